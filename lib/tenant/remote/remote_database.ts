// One remote database as the pipeline sees it.
import { AppError } from "../../core/errors.ts";
import { logRow } from "../local/wire.ts";
import type {
  InspectedStatement,
  Inspection,
  LogRow,
  ReplayFound,
  ReplayKeys,
  SchemaNames,
  ServiceStatement,
  SnapshotInfo,
  TenantCall,
  TenantDatabase,
  TenantOutcome,
} from "../tenant_store.ts";
import type { OpenTenant } from "./open_tenant.ts";
import type { RemoteSnapshots } from "./remote_snapshots.ts";
import { reachable } from "./reachable.ts";

export class RemoteDatabase implements TenantDatabase {
  /** `tenant` is asked for at each use: what nobody uses is forgotten. */
  constructor(
    private readonly tenant: () => OpenTenant,
    private readonly snapshotsOf: RemoteSnapshots,
    private readonly databaseId: string,
  ) {}

  inspect(statements: readonly InspectedStatement[]): Promise<Inspection> {
    return reachable(async () => {
      const { remote } = this.tenant();
      const known = await remote.oracle();
      const inspection = known.inspect(statements);
      if (inspection.failure === null) return inspection;
      // What does not compile is never sent, so nothing else would tell that the schema has changed meanwhile.
      const fresh = await remote.freshOracle();
      return fresh === known ? inspection : fresh.inspect(statements);
    });
  }

  schema(): Promise<SchemaNames> {
    return reachable(async () => {
      const oracle = await this.tenant().remote.freshOracle();
      return { schemaVersion: oracle.version, tables: oracle.tables() };
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

  restore(label: string, undoLabel: string): Promise<void> {
    return reachable(async () => {
      const tenant = this.tenant();
      if (tenant.restoring) throw new AppError("database_busy");
      tenant.restoring = true;
      try {
        await tenant.lane.addTask(() => this.snapshotsOf.restore(tenant.remote, label, undoLabel));
      } finally {
        tenant.restoring = false;
      }
      tenant.thin();
    });
  }

  record(row: LogRow): void {
    this.tenant().addLogRow(logRow(row));
  }
}
