// Call rows of stores that have no buffer for them: written together, a moment later.
import { LOG_DELAY_MS } from "../../core/limits.ts";
import type { EndpointCallRow } from "../../tenant/endpoint_call_row.ts";
import type { TenantDatabase } from "../../tenant/tenant_store.ts";

const INSERT = "INSERT OR IGNORE INTO _service_meta_endpoint_call VALUES (?,?,?,?,?,?,?,?,?,?)";
/** Rows of one database that wait at most; more are dropped. */
const MAX_ROWS = 10_000;
const ROWS_IN_WRITE = 500;

interface Waiting {
  readonly database: TenantDatabase;
  readonly rows: EndpointCallRow[];
}

export class EndpointCallBuffer {
  #waiting = new Map<string, Waiting>();
  #timer: ReturnType<typeof setTimeout> | null = null;

  add(databaseId: string, database: TenantDatabase, row: EndpointCallRow): void {
    let waiting = this.#waiting.get(databaseId);
    if (waiting === undefined) this.#waiting.set(databaseId, waiting = { database, rows: [] });
    if (waiting.rows.length < MAX_ROWS) waiting.rows.push(row);
    this.#timer ??= setTimeout(() => void this.flush(), LOG_DELAY_MS);
  }

  /** Rows that the store does not take are lost: a record is not worth a failure of the call that it is about. */
  async flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting = new Map();
    await Promise.allSettled(waiting.map(writeRows));
  }
}

async function writeRows({ database, rows }: Waiting): Promise<void> {
  while (rows.length > 0) {
    await database.write(
      rows.splice(0, ROWS_IN_WRITE).map((row) => ({ sql: INSERT, params: parametersOf(row) })),
    );
  }
}

function parametersOf(row: EndpointCallRow): (string | number | null)[] {
  const { id, ts, endpoint, status, httpStatus, rowsRead, rowsWritten, durationMs, userId, ipHash } = row;
  return [id, ts, endpoint, status, httpStatus, rowsRead, rowsWritten, durationMs, userId, ipHash];
}
