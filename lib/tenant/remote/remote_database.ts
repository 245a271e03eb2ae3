// One remote database as the pipeline sees it.
import type { DatabaseIds } from "../../core/database_ids.ts";
import type { Restored } from "../damage.ts";
import type { EndpointCallRow } from "../endpoint_call_row.ts";
import { endpointCallRow, logRow } from "../log_columns.ts";
import type { RestoreEffect } from "../../sql/service/branch_report.ts";
import type { RestoreOptions, SnapshotInfo } from "../snapshots.ts";
import type { ServiceStatement } from "../service_statement.ts";
import type { ReplayKeys } from "../stored_answer.ts";
import type { InspectedStatement } from "../../engine/compile_statement.ts";
import type { Inspection, InspectOptions, SchemaNames } from "../inspection.ts";
import type {
  LogIdentity,
  LogRow,
  ReplayFound,
  TenantCall,
  TenantDatabase,
  TenantOutcome,
  TenantTransaction,
} from "../tenant_store.ts";
import type { TransactionOptions } from "../transaction_control.ts";
import { RemoteTransaction } from "./transactions/remote_transaction.ts";
import type { RemoteTenant } from "./remote_tenant.ts";
import type { RemoteSnapshots } from "./copies/remote_snapshots.ts";
import { reachable, untilAnswered } from "./connection/until_answered.ts";
import type { RemoteConnection } from "./connection/remote_connection.ts";

/** One database of this store. */
export class RemoteDatabase implements TenantDatabase {
  /** `tenant` is asked for at each use: what nobody uses is forgotten. */
  constructor(
    private readonly tenant: () => RemoteTenant,
    private readonly snapshotsOf: RemoteSnapshots,
    private readonly ids: DatabaseIds,
  ) {}

  inspect(statements: readonly InspectedStatement[], options?: InspectOptions): Promise<Inspection> {
    return this.#retried(async (connection) => {
      const known = await connection.schemaGate();
      const inspection = await known.inspect(statements, options);
      if (inspection.failure === null) return inspection;
      // What does not compile is never sent, so nothing else would tell that the schema has changed meanwhile.
      const fresh = await connection.freshSchemaGate();
      return fresh === known ? inspection : fresh.inspect(statements, options);
    });
  }

  schema(): Promise<SchemaNames> {
    return this.#retried(async (connection) => {
      const schemaGate = await connection.freshSchemaGate();
      return { schemaVersion: schemaGate.version, tables: await schemaGate.tables() };
    });
  }

  async run(call: TenantCall): Promise<TenantOutcome> {
    try {
      return await reachable(() => this.tenant().run(call, this.ids.namespaceId));
    } finally {
      if (call.level !== "read") this.#changed();
    }
  }

  begin(options: TransactionOptions): TenantTransaction {
    const { connection, log } = this.tenant();
    return new RemoteTransaction({ connection, log, snapshots: this.snapshotsOf }, options);
  }

  /** What the server has no room for waits there. */
  beginInTurn(options: TransactionOptions): Promise<TenantTransaction> {
    return Promise.try(() => this.begin(options));
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
    return reachable(() => this.snapshotsOf.list(this.ids.databaseId));
  }

  takeSnapshot(label: string): Promise<SnapshotInfo> {
    return reachable(() => this.tenant().takeSnapshot(label));
  }

  compareSnapshot(label: string): Promise<RestoreEffect | null> {
    return reachable(() => this.tenant().compareSnapshot(label));
  }

  restore(label: string, more: RestoreOptions<LogIdentity>): Promise<Restored> {
    return reachable(() => this.tenant().restore(label, more)).finally(() => this.#changed());
  }

  record(row: LogRow): void {
    this.tenant().log.add(logRow(row));
  }

  recordEndpointCall(row: EndpointCallRow): void {
    this.tenant().log.add(endpointCallRow(row));
  }

  /** A call whose answer was lost may have been committed. */
  #changed(): void {
    this.tenant().connection.context.commits.tell(this.ids.databaseId);
  }

  /** For what only reads. */
  #retried<T>(work: (connection: RemoteConnection) => Promise<T>): Promise<T> {
    const connection = () => this.tenant().connection;
    return reachable(() => untilAnswered(() => work(connection()), connection));
  }
}
