// Collects log rows of each database, in bounded memory, so that many are written at once. It also counts how much of a log
// this process has written, so that the oldest rows are deleted when the log grows too large.
import type { LogCuts } from "../../sql/service/log_pruning.ts";
import { LogBudget } from "./log_budget.ts";
import { isRefusal, LOG_COLUMNS, type LogValues } from "../log_columns.ts";
import { LogMarks } from "./log_marks.ts";
import type { RowPack } from "./packed_rows.ts";
import type { LeftInSpool, StoredPack } from "./stored_pack.ts";
import { NeededFiles } from "./needed_files.ts";
import { WaitingRows } from "./waiting_rows.ts";

/** Default bound, in bytes, of a database's query log and endpoint calls together. */
export const DEFAULT_LOG_BYTES = 67_108_864;
/** The most rows that wait without standing in a spool. Later rows are lost, except those that add to a waiting row. */
const MAX_ROWS = 50_000;
/** Rows of an earlier process that are unpacked at a time: they take eight times the memory. */
const ADOPTED_AT_ONCE = 1024;

/** The waiting log rows of one database. */
export class LogBuffer {
  readonly #queryLog: LogMarks;
  readonly #calls: LogMarks;
  /** The oldest rows, which stand in a spool too and may wait for long. */
  readonly #waiting: WaitingRows;
  /** Those that are in no spool yet. */
  #rows: LogValues[] = [];
  /** Refused calls by id. A later row of the same id replaces the earlier one and includes its count. */
  readonly #refusals = new Map<string, LogValues>();
  readonly #unspooledRefusals = new Set<string>();
  /** The spool's file of refused calls, and of rows that have been taken, until they are in their table: by their ids. */
  readonly #spooled = new Map<string, number>();
  #isOver = false;

  /**
   * `maxBytes` bounds the query log and the calls together; `budget` bounds the waiting rows of all databases; `onSettled`
   * is called when fewer of the spool's files may be needed, `onNoted` when something may be to be done about the rows.
   */
  constructor(
    maxBytes: number,
    private readonly budget: LogBudget = new LogBudget(),
    private readonly onSettled: (needed: NeededFiles) => void = () => {},
    private readonly onNoted: () => void = () => {},
  ) {
    this.#waiting = new WaitingRows(budget);
    this.#queryLog = new LogMarks(maxBytes / 2);
    this.#calls = new LogMarks(maxBytes / 2);
  }

  get length(): number {
    return this.#waiting.length + this.#rows.length + this.#refusals.size;
  }

  /** Counts a row that a writing call writes in its own transaction. */
  note(row: LogValues): void {
    this.#marksOf(row.length).inTable(row);
    this.#count(row);
    this.onNoted();
  }

  add(row: LogValues): void {
    if (this.#isOver) return;
    const isNew = !isRefusal(row) || !this.#refusals.has(String(row[0]));
    if (isNew && this.unspooledCount >= MAX_ROWS) return;
    this.#put(row);
    if (isNew) this.#count(row);
    this.onNoted();
  }

  /** Adds what stands in the spool already: rows in that file, and packs, which are in the spool alone. */
  adopt({ rows, packs, file }: LeftInSpool): void {
    for (let from = 0; from < rows.length; from += ADOPTED_AT_ONCE) {
      for (const row of rows.slice(from, from + ADOPTED_AT_ONCE)) this.#put(row);
      this.noteSpooled(file);
    }
    for (const row of rows) this.#count(row);
    this.#waiting.adopt(packs);
    for (const { lastId, count, valueBytes, width } of packs) {
      const marks = this.#marksOf(width);
      // A process that ended before its lines were given up has left the rows in both.
      if (lastId > marks.newest) this.#forget(marks.addMany(lastId, count, valueBytes), width);
    }
  }

  /** Leaves packs of rows to the spool, `most` of them at most; returns how many. Throws what `store` throws. */
  storePacks(most: number, store: (pack: RowPack) => StoredPack): number {
    return this.#waiting.store(most, store);
  }

  /** Has refused calls, which are in no pack, go into the spool again; whether there are some. */
  repeatRefusals(): boolean {
    for (const id of this.#refusals.keys()) this.#unspooledRefusals.add(id);
    return this.#refusals.size > 0;
  }

  /** Gives up the spool's files that are not needed. */
  releaseFiles(): void {
    const needed = new NeededFiles();
    this.#waiting.addNeeded(needed);
    for (const file of this.#spooled.values()) needed.addFrom(file);
    this.onSettled(needed);
  }

  /** How many rows stand in no spool. */
  get unspooledCount(): number {
    return this.#rows.length + this.#unspooledRefusals.size;
  }

  /** Those rows. */
  get unspooled(): LogValues[] {
    const refused = [...this.#unspooledRefusals].map((id) => this.#refusals.get(id));
    return [...this.#rows, ...refused.filter((row) => row !== undefined)];
  }

  /** Notes that all of them stand in that file of the spool now, and no others. */
  noteSpooled(file: number): void {
    this.budget.give(this.#rows);
    this.#waiting.addNewest(this.#rows, file);
    this.#rows = [];
    for (const id of this.#unspooledRefusals) this.#spooled.set(id, file);
    this.#unspooledRefusals.clear();
  }

  /** Brings rows of the spool's files up to that one, `most` packs at most, into a newer file, as `put` does it: see `WaitingRows`. */
  moveOn(file: number, most: number, put: (rows: readonly LogValues[]) => number | null): void {
    this.#waiting.moveOn(file, most, put);
    this.releaseFiles();
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
    if (rows.length > 0 && this.#spooled.size === 0) this.releaseFiles();
  }

  get #isSpooled(): boolean {
    return this.#waiting.length > 0 || this.#spooled.size > 0;
  }

  /** Takes the oldest rows, then those of refused calls. */
  take(most: number): LogValues[] {
    const taken: LogValues[] = [];
    this.#waiting.take(most, (row, file) => {
      this.#spooled.set(String(row[0]), file);
      taken.push(row);
    });
    const rows = this.#rows.splice(0, most - taken.length);
    for (const [id, row] of this.#refusals) {
      if (taken.length + rows.length >= most) break;
      rows.push(row);
      this.#refusals.delete(id);
      this.#unspooledRefusals.delete(id);
    }
    this.budget.give(rows);
    taken.push(...rows);
    for (const row of taken) this.#marksOf(row.length).inTable(row);
    return taken;
  }

  /** Puts rows that could not be written in front of those that have come since. */
  putBack(rows: readonly LogValues[]): void {
    if (this.#isOver) return;
    const later = [...this.#refusals.values()];
    const [spooled, files, others]: [LogValues[], number[], LogValues[]] = [[], [], []];
    for (const row of rows.filter((row) => !isRefusal(row))) {
      const file = this.#spooled.get(String(row[0]));
      this.#spooled.delete(String(row[0]));
      (file === undefined ? others : spooled).push(row);
      if (file !== undefined) files.push(file);
    }
    this.#waiting.putBack(spooled, files);
    const room = Math.max(0, MAX_ROWS - this.unspooledCount);
    this.#rows = [...others.slice(0, room).filter((row) => this.budget.take(row)), ...this.#rows];
    for (const row of [...rows.filter(isRefusal), ...later]) this.#put(row);
    this.onNoted();
  }

  /** Forgets all rows, and every one that still comes: of calls that end while their database is deleted. */
  end(): void {
    this.#isOver = true;
    this.#waiting.forgetAll();
    this.budget.give([...this.#rows, ...this.#refusals.values()]);
    this.#rows = [];
    this.#refusals.clear();
    this.#unspooledRefusals.clear();
    this.#spooled.clear();
    this.releaseFiles();
  }

  /** Whether rows are to be deleted from a table. */
  get isTooLarge(): boolean {
    return this.cuts.some((cut) => cut !== null);
  }

  /** The ids of the query log and of the calls below which rows are to be deleted from their tables. */
  get cuts(): LogCuts {
    return [this.#queryLog.cut, this.#calls.cut];
  }

  /** Notes that none of those rows are left. */
  noteDeleted([queryLog, calls]: LogCuts): void {
    this.#queryLog.deleted(queryLog);
    this.#calls.deleted(calls);
  }

  #marksOf(columns: number): LogMarks {
    return columns === LOG_COLUMNS ? this.#queryLog : this.#calls;
  }

  #count(row: LogValues): void {
    this.#forget(this.#marksOf(row.length).add(row), row.length);
  }

  /** Rows that wait and are too many by now never get into their table. */
  #forget(cut: string | null, columns: number): void {
    if (cut !== null && this.#waiting.forgetBefore(cut, columns)) this.releaseFiles();
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
