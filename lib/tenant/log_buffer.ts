// Collects log rows of each database, in bounded memory, so that many are written at once. It also counts how much of a log
// this process has written, so that the oldest rows are deleted when the log grows too large.
import { isRefusal, LOG_COLUMNS } from "./endpoint_call_row.ts";
import { LogBudget } from "./log_budget.ts";
import type { LogValues } from "./log_columns.ts";
import { type PackedRows, packRows, unpackRows } from "./packed_rows.ts";

/** Default bound, in bytes, of a database's query log and endpoint calls together. */
export const DEFAULT_LOG_BYTES = 67_108_864;
/** The most rows that wait. Later rows are lost, except those that add to the count of a waiting row. */
const MAX_ROWS = 50_000;
/** Bytes of a row without its text. */
const ROW_BYTES = 150;
/**
 * The bound is divided into this many parts; the oldest part is deleted at a time. That takes a millisecond or two of the
 * database's write slot for a part of a default log, some 1,000 rows.
 */
const PARTS = 128;

/** The waiting log rows of one database. */
export class LogBuffer {
  readonly #queryLog: Marks;
  readonly #calls: Marks;
  /** The oldest rows, which stand in a spool too and may wait for long. */
  #packed: PackedRows[] = [];
  #packedCount = 0;
  /** Those that are in no spool yet. */
  #rows: LogValues[] = [];
  /** Refused calls by id. A later row of the same id replaces the earlier one and includes its count. */
  readonly #refusals = new Map<string, LogValues>();
  readonly #unspooledRefusals = new Set<string>();
  /** Ids of refused calls, and of rows that have been taken, that stand in the spool until they are in their table. */
  readonly #spooled = new Set<string>();

  /**
   * `maxBytes` bounds the query log and the calls together; `budget` bounds the waiting rows of all databases; `onSettled`
   * is called when no row in the spool is needed there any more, `onNoted` when something may be to be done about the rows.
   */
  constructor(
    maxBytes: number,
    private readonly budget: LogBudget = new LogBudget(),
    private readonly onSettled: () => void = () => {},
    private readonly onNoted: () => void = () => {},
  ) {
    this.#queryLog = new Marks(maxBytes / 2);
    this.#calls = new Marks(maxBytes / 2);
  }

  get length(): number {
    return this.#packedCount + this.#rows.length + this.#refusals.size;
  }

  /** Counts a row that a writing call has written in its own transaction. */
  note(row: LogValues): void {
    (row.length === LOG_COLUMNS ? this.#queryLog : this.#calls).add(row);
    this.onNoted();
  }

  add(row: LogValues): void {
    const isNew = !isRefusal(row) || !this.#refusals.has(String(row[0]));
    if (isNew && this.length >= MAX_ROWS) return;
    this.#put(row);
    if (isNew) this.note(row);
    else this.onNoted();
  }

  /** Whether there are rows that stand in no spool. */
  get hasUnspooled(): boolean {
    return this.#rows.length > 0 || this.#unspooledRefusals.size > 0;
  }

  /** Those rows. */
  get unspooled(): LogValues[] {
    const rows = [...this.#rows];
    for (const id of this.#unspooledRefusals) {
      const row = this.#refusals.get(id);
      if (row) rows.push(row);
    }
    return rows;
  }

  /** Notes that all of them stand in the spool now. */
  noteSpooled(): void {
    this.budget.give(this.#rows);
    this.#hold(packRows(this.#rows, this.#packed.at(-1)), "behind");
    this.#rows = [];
    for (const id of this.#unspooledRefusals) this.#spooled.add(id);
    this.#unspooledRefusals.clear();
  }

  /** Notes that the spool will lose what it holds of them. */
  noteUnspooled(): void {
    const rows = this.#unpack();
    for (const row of rows) this.budget.hold(row);
    this.#rows = [...rows, ...this.#rows];
    this.#spooled.clear();
    for (const id of this.#refusals.keys()) this.#unspooledRefusals.add(id);
    this.onNoted();
  }

  /** Notes that rows are in their table, or will never be. */
  settle(rows: readonly LogValues[]): void {
    if (!this.#isSpooled) return;
    for (const row of rows) {
      const id = String(row[0]);
      this.#spooled.delete(id);
      // One that has counted further meanwhile.
      if (this.#refusals.has(id)) this.#unspooledRefusals.add(id);
    }
    this.onNoted();
    if (!this.#isSpooled) this.onSettled();
  }

  get #isSpooled(): boolean {
    return this.#packedCount > 0 || this.#spooled.size > 0;
  }

  /** Takes the oldest rows, then those of refused calls. */
  take(most: number): LogValues[] {
    const taken = this.#takePacked(most);
    const rows = this.#rows.splice(0, most - taken.length);
    for (const [id, row] of this.#refusals) {
      if (taken.length + rows.length >= most) break;
      rows.push(row);
      this.#refusals.delete(id);
      this.#unspooledRefusals.delete(id);
    }
    this.budget.give(rows);
    return [...taken, ...rows];
  }

  #takePacked(most: number): LogValues[] {
    let taken: LogValues[] = [];
    while (taken.length < most && this.#packed.length > 0) taken = taken.concat(this.#unpack(1));
    this.#hold(packRows(taken.splice(most), this.#packed[0]), "before");
    for (const row of taken) this.#spooled.add(String(row[0]));
    return taken;
  }

  /** Removes and returns the rows of the oldest packs. */
  #unpack(packs = Infinity): LogValues[] {
    const removed = this.#packed.splice(0, packs);
    for (const pack of removed) {
      this.#packedCount -= pack.count;
      this.budget.givePacked(pack);
    }
    return removed.flatMap(unpackRows);
  }

  /** Packed rows have room in any case: unpacked they had more. */
  #hold(packs: readonly PackedRows[], place: "before" | "behind"): void {
    for (const pack of packs) {
      this.#packedCount += pack.count;
      this.budget.holdPacked(pack);
    }
    if (place === "before") this.#packed.unshift(...packs);
    else this.#packed.push(...packs);
  }

  /** Puts rows that could not be written in front of those that have come since. */
  putBack(rows: readonly LogValues[]): void {
    const later = [...this.#refusals.values()];
    const room = Math.max(0, MAX_ROWS - this.#packedCount - this.#rows.length);
    const back = rows.filter((row) => !isRefusal(row)).slice(0, room);
    const [spooled, others]: [LogValues[], LogValues[]] = [[], []];
    for (const row of back) (this.#spooled.delete(String(row[0])) ? spooled : others).push(row);
    this.#hold(packRows(spooled, this.#packed[0]), "before");
    this.#rows = [...others.filter((row) => this.budget.take(row)), ...this.#rows];
    for (const row of [...rows.filter(isRefusal), ...later]) this.#put(row);
    this.onNoted();
  }

  clear(): void {
    this.#unpack();
    this.budget.give([...this.#rows, ...this.#refusals.values()]);
    this.#rows = [];
    this.#refusals.clear();
    this.noteUnspooled();
    this.onSettled();
  }

  /** Whether `takeCuts` would return anything. */
  get isTooLarge(): boolean {
    return this.#queryLog.hasCut || this.#calls.hasCut;
  }

  /** Returns, once each, the ids of the query log and of the calls below which rows are to be deleted. */
  takeCuts(): readonly [string | null, string | null] {
    return [this.#queryLog.takeCut(), this.#calls.takeCut()];
  }

  #put(row: LogValues): void {
    const earlier = isRefusal(row) ? this.#refusals.get(String(row[0])) : undefined;
    if (earlier) this.budget.give([earlier]);
    const hasRoom = this.budget.take(row);
    if (!isRefusal(row)) {
      if (hasRoom) this.#rows.push(row);
      return;
    }
    const id = String(row[0]);
    if (hasRoom) {
      this.#refusals.set(id, row);
      this.#unspooledRefusals.add(id);
    } else {
      this.#refusals.delete(id);
      this.#unspooledRefusals.delete(id);
    }
  }
}

/** Counts the bytes written and remembers the count at some ids. */
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
