// Log rows of one database that stand in the spool and wait in memory, packed, oldest first.
import type { LogBudget } from "./log_budget.ts";
import type { LogValues } from "./log_columns.ts";
import { giveBackText, MANY_ROWS, type PackedRows, packRows, unpackRows } from "./packed_rows.ts";

/** So many packs of few rows become one: each for itself takes three times the memory of its rows. */
const MERGED_PACKS = 8;

/** Rows of one kind. `file`: the number of the spool's first file that has some of them. */
interface WaitingPack extends PackedRows {
  readonly file: number;
}

/** The packs of one database. They have room in any case: unpacked they had more. */
export class WaitingRows {
  #packs: WaitingPack[] = [];
  #length = 0;

  constructor(private readonly budget: LogBudget) {}

  get length(): number {
    return this.#length;
  }

  /** Of the spool's files with some of them; Infinity where there are none. */
  get firstFile(): number {
    return this.#packs.reduce((first, { file }) => Math.min(first, file), Infinity);
  }

  addOldest(rows: readonly LogValues[], file: number): void {
    this.#packs.unshift(...this.#held(packRows(rows, this.#packs[0], this.budget.blocks), file));
  }

  addNewest(rows: readonly LogValues[], file: number): void {
    this.#packs.push(...this.#held(packRows(rows, this.#packs.at(-1), this.budget.blocks), file));
    this.#mergeNewest();
  }

  /** Takes the oldest ones; `taken` is called with each and its file. */
  take(most: number, taken: (row: LogValues, file: number) => void): void {
    for (let left = most; left > 0 && this.#length > 0;) {
      const [pack] = this.#packs;
      if (pack === undefined) return;
      const rows = unpackRows(pack);
      this.#release(this.#packs.splice(0, 1));
      this.addOldest(rows.splice(left), pack.file);
      for (const row of rows) taken(row, pack.file);
      left -= rows.length;
    }
  }

  takeAll(): LogValues[] {
    const rows = this.#packs.flatMap(unpackRows);
    this.#release(this.#packs.splice(0));
    return rows;
  }

  /** Forgets rows with so many columns that are older than `id`, and may keep some of them; false: there are none. */
  forgetBefore(id: string, columns: number): boolean {
    const isOver = ({ shared, lastId }: PackedRows) => shared.length === columns && lastId < id;
    const over = this.#packs.filter(isOver);
    if (over.length > 0) this.#packs = this.#packs.filter((pack) => !isOver(pack));
    this.#release(over);
    return over.length > 0;
  }

  /** Packs of one kind only: those of two kinds would be packed again and again, and stay as many. */
  #mergeNewest(): void {
    const newest = this.#packs.slice(-MERGED_PACKS);
    const isSmall = ({ count, shared }: PackedRows) =>
      count < MANY_ROWS && shared.length === newest[0]?.shared.length;
    if (newest.length < MERGED_PACKS || !newest.every(isSmall)) return;
    const rows = newest.flatMap(unpackRows);
    const file = Math.min(...newest.map((pack) => pack.file));
    this.#release(this.#packs.splice(-MERGED_PACKS));
    this.#packs.push(...this.#held(packRows(rows, this.#packs.at(-1), this.budget.blocks), file));
  }

  #held(packs: readonly PackedRows[], file: number): WaitingPack[] {
    for (const pack of packs) {
      this.#length += pack.count;
      this.budget.holdPacked(pack);
    }
    return packs.map((pack) => ({ ...pack, file }));
  }

  #release(packs: readonly WaitingPack[]): void {
    for (const pack of packs) {
      this.#length -= pack.count;
      this.budget.givePacked(pack);
      giveBackText(pack, this.budget.blocks);
    }
  }
}
