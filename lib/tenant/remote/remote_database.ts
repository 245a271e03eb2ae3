// One remote database as the pipeline sees it.
import { AppError } from "../../core/errors.ts";
import type { Restored } from "../damage.ts";
import type { EndpointCallRow } from "../endpoint_call_row.ts";
import { endpointCallRow, logRow } from "../log_columns.ts";
import type { RestoreEffect } from "../../sql/branch_report.ts";
import type { RestoreOptions, SnapshotInfo } from "../snapshots.ts";
import type { ServiceStatement } from "../service_statement.ts";
import type { ReplayKeys } from "../stored_answer.ts";
import type {
  InspectedStatement,
  Inspection,
  InspectOptions,
  LogIdentity,
  LogRow,
  ReplayFound,
  SchemaNames,
  TenantCall,
  TenantDatabase,
  TenantOutcome,
} from "../tenant_store.ts";
import type { OpenTenant } from "./open_tenant.ts";
import type { RemoteSnapshots } from "./remote_snapshots.ts";
import { reachable } from "./reachable.ts";
import type { RemoteTenant } from "./remote_tenant.ts";
import { untilAnswered } from "./until_answered.ts";

/** One database of this store. */
export class RemoteDatabase implements TenantDatabase {
  /** `tenant` is asked for at each use: what nobody uses is forgotten. */
  constructor(
    private readonly tenant: () => OpenTenant,
    private readonly snapshotsOf: RemoteSnapshots,
    private readonly databaseId: string,
  ) {}

  inspect(statements: readonly InspectedStatement[], options?: InspectOptions): Promise<Inspection> {
    return this.#retried(async (remote) => {
      const known = await remote.schemaGate();
      const inspection = known.inspect(statements, options);
      if (inspection.failure === null) return inspection;
      // What does not compile is never sent, so nothing else would tell that the schema has changed meanwhile.
      const fresh = await remote.freshSchemaGate();
      return fresh === known ? inspection : fresh.inspect(statements, options);
    });
  }

  schema(): Promise<SchemaNames> {
    return this.#retried(async (remote) => {
      const schemaGate = await remote.freshSchemaGate();
      return { schemaVersion: schemaGate.version, tables: schemaGate.tables() };
    });
  }

  run(call: TenantCall): Promise<TenantOutcome> {
    return reachable(() => this.tenant().run(call));
  }

  write(statements: readonly ServiceStatement[]): Promise<void> {
    return reachable(() => this.tenant().write(statements));
  }

  findReplay(replay: ReplayKeys): Promise<ReplayFound | null> {
    return reachable(() => this.tenant().findReplay(replay));
  }

  noteReplay(replay: ReplayKeys): Promise<void> {
    return reachable(() => this.tenant().noteReplay(replay));
  }

  snapshots(): Promise<SnapshotInfo[]> {
    return reachable(() => this.snapshotsOf.list(this.databaseId));
  }

  takeSnapshot(label: string): Promise<SnapshotInfo> {
    return reachable(async () => {
      const tenant = this.tenant();
      const taken = await tenant.lane.addTask(() => this.snapshotsOf.take(tenant.remote, label));
      tenant.thin();
      return taken;
    });
  }

  compareSnapshot(label: string): Promise<RestoreEffect | null> {
    return reachable(() => {
      const tenant = this.tenant();
      return tenant.lane.addTask(() => this.snapshotsOf.compare(tenant.remote, label));
    });
  }

  restore(label: string, more: RestoreOptions<LogIdentity>): Promise<Restored> {
    return reachable(async () => {
      const tenant = this.tenant();
      if (tenant.restoring) throw new AppError("database_busy");
      tenant.restoring = true;
      try {
        return await tenant.lane.addTask(() => this.snapshotsOf.restore(tenant.remote, { label, ...more }));
      } finally {
        tenant.restoring = false;
        tenant.thin();
      }
    });
  }

  record(row: LogRow): void {
    this.tenant().addLogRow(logRow(row));
  }

  recordEndpointCall(row: EndpointCallRow): void {
    this.tenant().addLogRow(endpointCallRow(row));
  }

  /** For what only reads. */
  #retried<T>(work: (remote: RemoteTenant) => Promise<T>): Promise<T> {
    const remote = () => this.tenant().remote;
    return reachable(() => untilAnswered(() => work(remote()), remote));
  }
}
