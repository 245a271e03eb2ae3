// Log rows of one database that wait for company, in a bounded number, and how much of the log this process has written:
// where it grows too large, its oldest rows go.
import { isRefusal, LOG_COLUMNS } from "./endpoint_call_row.ts";
import { LogBudget } from "./log_budget.ts";
import type { LogValues } from "./log_columns.ts";

/** Of the query log and the calls of one database together. */
export const DEFAULT_LOG_BYTES = 67_108_864;
/** Rows that wait at most; what comes then is lost, but for what counts further on a row that waits. */
const MAX_ROWS = 50_000;
/** Bytes of a row beside its text. */
const ROW_BYTES = 150;
/** Parts of the bound after which the oldest part goes. */
const PARTS = 16;

export class LogBuffer {
  readonly #queryLog: Marks;
  readonly #calls: Marks;
  #rows: LogValues[] = [];
  /** Refused calls by id: a later row of the same id says more, and counts what the earlier one has. */
  readonly #refusals = new Map<string, LogValues>();

  /** `maxBytes` of the query log and the calls together; `budget` of the rows that wait, of all databases. */
  constructor(maxBytes: number, private readonly budget: LogBudget = new LogBudget()) {
    this.#queryLog = new Marks(maxBytes / 2);
    this.#calls = new Marks(maxBytes / 2);
  }

  get length(): number {
    return this.#rows.length + this.#refusals.size;
  }

  /** Notes a row that a writing call leaves by itself. */
  note(row: LogValues): void {
    (row.length === LOG_COLUMNS ? this.#queryLog : this.#calls).add(row);
  }

  add(row: LogValues): void {
    const isNew = !isRefusal(row) || !this.#refusals.has(String(row[0]));
    if (isNew && this.length >= MAX_ROWS) return;
    if (isNew) this.note(row);
    this.#put(row);
  }

  /** The oldest ones, then those of refused calls. */
  take(most: number): LogValues[] {
    const taken = this.#rows.splice(0, most);
    for (const [id, row] of this.#refusals) {
      if (taken.length >= most) break;
      taken.push(row);
      this.#refusals.delete(id);
    }
    this.budget.give(taken);
    return taken;
  }

  /** Rows that could not be written, in front of those that have come since. */
  putBack(rows: readonly LogValues[]): void {
    const later = [...this.#refusals.values()];
    const room = Math.max(0, MAX_ROWS - this.#rows.length);
    const back = rows.filter((row) => !isRefusal(row)).slice(0, room).filter((row) => this.budget.take(row));
    this.#rows = [...back, ...this.#rows];
    for (const row of [...rows.filter(isRefusal), ...later]) this.#put(row);
  }

  clear(): void {
    this.budget.give([...this.#rows, ...this.#refusals.values()]);
    this.#rows = [];
    this.#refusals.clear();
  }

  /** True where `takeCuts` has something to tell. */
  get isTooLarge(): boolean {
    return this.#queryLog.hasCut || this.#calls.hasCut;
  }

  /** Ids of the query log and of the calls below which rows are too many; each is told once. */
  takeCuts(): readonly [string | null, string | null] {
    return [this.#queryLog.takeCut(), this.#calls.takeCut()];
  }

  #put(row: LogValues): void {
    const earlier = isRefusal(row) ? this.#refusals.get(String(row[0])) : undefined;
    if (earlier) this.budget.give([earlier]);
    const kept = this.budget.take(row);
    if (!isRefusal(row)) {
      if (kept) this.#rows.push(row);
    } else if (kept) this.#refusals.set(String(row[0]), row);
    else this.#refusals.delete(String(row[0]));
  }
}

/** Bytes written so far, noted at some ids. */
class Marks {
  #total = 0;
  #marks: { readonly id: string; readonly total: number }[] = [];
  #cut: string | null = null;

  constructor(private readonly maxBytes: number) {}

  get hasCut(): boolean {
    return this.#cut !== null;
  }

  add(row: LogValues): void {
    this.#total += row.reduce(
      (sum: number, value) => sum + (typeof value === "string" ? value.length : 8),
      ROW_BYTES,
    );
    const last = this.#marks.at(-1)?.total ?? 0;
    if (this.#total - last < this.maxBytes / PARTS) return;
    this.#marks.push({ id: String(row[0]), total: this.#total });
    const over = this.#marks.filter(({ total }) => total <= this.#total - this.maxBytes).at(-1);
    if (over === undefined) return;
    this.#cut = over.id;
    this.#marks = this.#marks.filter(({ total }) => total > over.total);
  }

  takeCut(): string | null {
    const cut = this.#cut;
    this.#cut = null;
    return cut;
  }
}
