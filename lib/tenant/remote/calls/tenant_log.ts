// Log rows of one remote database that wait for company: the next group of writes takes them along, or they are written
// by themselves, in one transaction, in the write slot.
import { DAY_MS, HOUR_MS } from "../../../core/clock.ts";
import { idFloor } from "../../../core/ids.ts";
import { LOG_DELAY_MS } from "../../../core/limits.ts";
import { pruneStatements } from "../../../sql/service/log_pruning.ts";
import { LogBuffer } from "../../log/log_buffer.ts";
import { logRowOf, type LogValues } from "../../log_columns.ts";
import type { TenantCall, TenantOutcome } from "../../tenant_store.ts";
import { chain, ownTransaction } from "../hrana/step_list.ts";
import type { Lane } from "./lane.ts";
import { addLogRows } from "./record_steps.ts";
import type { RemoteConnection } from "../connection/remote_connection.ts";
import { rowsAt } from "../server/remote_context.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";
import { MAX_RETRIES, pauseBefore } from "../connection/until_answered.ts";
import { pause } from "../../../core/pause.ts";

/** Milliseconds until rows that could not be written are tried again. */
const RETRY_MS = 2000;
/** Rows that a group of writes takes along, and those of one transaction of their own. */
const GROUP_ROWS = 500;
const ROWS_AT_ONCE = 2000;
/** Milliseconds between two prunings of one database's log. */
const PRUNE_MS = HOUR_MS;
/** Rows whose figures wait. Those of later ones are lost. */
const MAX_FIGURES = 50_000;
/** Stored answers deleted at once, so that no transaction grows long. */
const PRUNED_AT_ONCE = 5000;

/** Figures of a row that stands in the log: rows read, and milliseconds. */
type Figures = readonly [id: string, rowsRead: number, ms: number];
const COMPLETE =
  "UPDATE _service_meta_query_log SET rows_read = one.value->>1, duration_ms = one.value->>2 " +
  "FROM json_each(?) AS one WHERE _service_meta_query_log.id = one.value->>0";

export class TenantLog {
  readonly #buffer: LogBuffer;
  #figures: Figures[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;
  #pauseMs = LOG_DELAY_MS / 2;
  #isStopped = false;
  /** When rows that are too old were last deleted, by the monotonic clock. */
  #prunedMs = -Infinity;

  constructor(
    private readonly connection: RemoteConnection,
    private readonly lane: Pick<Lane, "idle" | "addTask">,
  ) {
    this.#buffer = new LogBuffer(connection.context.logBytes);
  }

  get isEmpty(): boolean {
    return this.#buffer.length === 0 && this.#figures.length === 0;
  }

  /** Counts a row that a call writes in its own transaction. */
  note(row: LogValues): void {
    this.#buffer.note(row);
    this.#startTimer();
  }

  add(row: LogValues): void {
    this.#buffer.add(row);
    this.#startTimer();
  }

  /** Adds the row of a call that has ended without writing it, if it has one. */
  addEnd(call: TenantCall, outcome: TenantOutcome): void {
    const row = logRowOf(call, outcome);
    if (row) this.add(row);
  }

  /** Sets right the figures of a row that was committed before they were known. */
  complete(id: string, { rowsRead, ms }: { readonly rowsRead: number; readonly ms: number }): void {
    if (this.#figures.length >= MAX_FIGURES) return;
    this.#figures.push([id, rowsRead, ms]);
    this.#startTimer();
  }

  /** Rows for a group of writes. */
  takeForGroup(): LogValues[] {
    return this.#buffer.take(GROUP_ROWS);
  }

  /** The group has not written them. */
  putBack(rows: readonly LogValues[]): void {
    this.#buffer.putBack(rows);
    this.#startTimer();
  }

  /** Resolves when a statement would see the rows that wait now. `once`: a server that does not answer is not asked again. */
  async flush({ once = false } = {}): Promise<void> {
    // Rows that a group under way has taken along are not in the table yet either.
    if (!this.#isDue && this.lane.idle) return;
    const written = await this.lane.addTask(() => this.#write({ once }));
    this.#pauseMs = written ? LOG_DELAY_MS / 2 : RETRY_MS;
  }

  /** From now on rows are written only when `flush` is called. */
  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  get #isDue(): boolean {
    return this.#buffer.length > 0 || this.#figures.length > 0 || this.#buffer.isTooLarge;
  }

  #startTimer(): void {
    if (this.#timer !== null || this.#isStopped || !this.#isDue) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      // Nobody waits, and calls wait behind it.
      this.flush({ once: true }).catch(() => {}).finally(() => this.#startTimer());
    }, this.#pauseMs);
  }

  /**
   * Writes what waits; rows that could not be written wait on, and it answers false. Never throws: the log is not worth a
   * caller's failure.
   */
  async #write({ once }: { readonly once: boolean }): Promise<boolean> {
    const { connection } = this;
    // What comes while these are written waits for company of its own.
    let left = this.#buffer.length;
    let figuresLeft = this.#figures.length;
    for (let attempt = once ? MAX_RETRIES : 0; left + figuresLeft > 0 || this.#buffer.isTooLarge;) {
      const rows = this.#buffer.take(Math.min(left, ROWS_AT_ONCE));
      const figures = this.#figures.splice(0, Math.min(figuresLeft, ROWS_AT_ONCE));
      if (rows.length + figures.length === 0 && !this.#buffer.isTooLarge) break;
      const transaction = ownTransaction((list) => {
        addLogRows(list, rows);
        if (figures.length > 0) chain(list, COMPLETE, [JSON.stringify(figures)]);
        for (const [sql, params] of this.#pruning()) chain(list, sql, params);
      });
      try {
        // Tables of an older version are brought up to date when the schema is read.
        await connection.schemaGate();
        rowsAt(await connection.runOwn("write", transaction.steps), transaction.commit);
        left -= rows.length;
        figuresLeft -= figures.length;
      } catch (error) {
        // The rows have ids: those that were written after all are not written twice.
        this.#buffer.putBack(rows);
        this.#figures.unshift(...figures);
        try {
          if (!(error instanceof RemoteFailure)) throw error;
          await pause(await pauseBefore(connection, error, attempt++));
        } catch {
          connection.context.log("warn", "log_rows_not_written", { rows: rows.length });
          return false;
        }
      }
    }
    return true;
  }

  /** What deletes rows that are too old or too many. */
  #pruning(): (readonly [sql: string, params: LogValues])[] {
    const { clock, logDays, logBytes } = this.connection.context;
    const nowMs = clock.now();
    const isDue = clock.monotonicMs() - this.#prunedMs >= PRUNE_MS;
    const { cuts } = this.#buffer;
    this.#buffer.noteDeleted(cuts);
    const beforeId = isDue ? idFloor("qry", nowMs - logDays * DAY_MS) : null;
    const maxBytes = isDue ? logBytes / 2 : null;
    const statements = [...pruneStatements({ beforeId, cuts, maxBytes, nowMs })];
    if (!isDue) return statements;
    this.#prunedMs = clock.monotonicMs();
    // Ids rise with time: those whose time is over come first.
    return [...statements, [
      "DELETE FROM _service_meta_replay WHERE id IN (SELECT id FROM (SELECT id, expires_at FROM _service_meta_replay " +
      "ORDER BY id LIMIT ?) WHERE expires_at <= ?)",
      [PRUNED_AT_ONCE, nowMs],
    ]];
  }
}
