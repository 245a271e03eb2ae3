// Counts the bytes that a log gets, and says from which row on it stays when it has grown too large.
import type { LogValues } from "../log_columns.ts";

/** Bytes of a row without its text. */
const ROW_BYTES = 150;
/**
 * The bound is divided into this many parts; the oldest part is deleted at a time. That takes a millisecond or two of the
 * database's write slot for a part of a default log, some 1,000 rows.
 */
const PARTS = 128;

/** The marks of one log. Ids sort by time. */
export class LogMarks {
  #total = 0;
  #marks: { readonly id: string; readonly total: number }[] = [];
  #cut: string | null = null;
  /** The newest id that was counted. */
  newest = "";
  /** Of the newest row that may be in the table; empty where it has none below the last cut, null where nobody knows. */
  #newestInTable: string | null = null;

  constructor(private readonly maxBytes: number) {}

  /** The id below which rows of the table are to be deleted; null: none. */
  get cut(): string | null {
    return this.#newestInTable === "" ? null : this.#cut;
  }

  /** Counts a row; returns the id below which rows are too many from now on, where there are such. */
  add(row: LogValues): string | null {
    const bytes = row.reduce((sum: number, value) => sum + (typeof value === "string" ? value.length : 8), 0);
    return this.addMany(String(row[0]), 1, bytes);
  }

  /** The same for rows up to that id. `valueBytes`: of all their values. */
  addMany(id: string, rows: number, valueBytes: number): string | null {
    if (id > this.newest) this.newest = id;
    // What an earlier process has written is older.
    this.#newestInTable ??= id;
    this.#total += rows * ROW_BYTES + valueBytes;
    const last = this.#marks.at(-1)?.total ?? 0;
    if (this.#total - last < this.maxBytes / PARTS) return null;
    this.#marks.push({ id, total: this.#total });
    const over = this.#marks.filter(({ total }) => total <= this.#total - this.maxBytes).at(-1);
    if (over === undefined) return null;
    this.#marks = this.#marks.filter(({ total }) => total > over.total);
    this.#cut = over.id;
    return over.id;
  }

  /** Notes that a row is in the table, or on its way there. */
  inTable(row: LogValues): void {
    const id = String(row[0]);
    if (this.#newestInTable === null || id > this.#newestInTable) this.#newestInTable = id;
  }

  /** Notes that the table has no row below that id. */
  deleted(cut: string | null): void {
    if (cut === null) return;
    if (this.#newestInTable !== null && this.#newestInTable < cut) this.#newestInTable = "";
    if (this.#cut === cut) this.#cut = null;
  }
}
