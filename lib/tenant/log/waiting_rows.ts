// Log rows of one database that stand in the spool and wait in memory, packed, oldest first.
import type { LogBudget } from "./log_budget.ts";
import type { LogValues } from "../log_columns.ts";
import type { NeededFiles } from "./needed_files.ts";
import { type Pack, RowPack } from "./packed_rows.ts";
import type { StoredPack } from "./stored_pack.ts";

/** The packs of one database. They have room in any case: unpacked they had more. */
export class WaitingRows {
  #packs: Pack[] = [];
  #length = 0;

  constructor(private readonly budget: LogBudget) {}

  get length(): number {
    return this.#length;
  }

  /** Adds the spool's files with some of them. */
  addNeeded(needed: NeededFiles): void {
    for (const pack of this.#packs) {
      if (pack instanceof RowPack) needed.addFrom(pack.file);
      else needed.addPacks(pack.file);
    }
  }

  #addOldest(rows: readonly LogValues[], file: number): void {
    const packs: Pack[] = [];
    this.#add(rows, file, packs);
    this.#packs.unshift(...packs);
  }

  /** Puts rows that were taken in front of the others. Those of each file stay apart: they need that one, and not the others'. */
  putBack(rows: readonly LogValues[], files: readonly number[]): void {
    for (let end = rows.length; end > 0;) {
      const file = files[end - 1] ?? 0;
      const start = files.slice(0, end).findLastIndex((other) => other !== file) + 1;
      this.#addOldest(rows.slice(start, end), file);
      end = start;
    }
  }

  addNewest(rows: readonly LogValues[], file: number): void {
    this.#add(rows, file, this.#packs);
  }

  /** Takes the oldest ones; `taken` is called with each and its file. */
  take(most: number, taken: (row: LogValues, file: number) => void): void {
    for (let left = most; left > 0 && this.#length > 0;) {
      const [pack] = this.#packs;
      if (pack === undefined) return;
      const rows = pack.rows();
      this.#release(this.#packs.splice(0, 1));
      this.#addOldest(rows.splice(left), pack.file);
      for (const row of rows) taken(row, pack.file);
      left -= rows.length;
    }
  }

  /** Adds packs of an earlier process. */
  adopt(packs: readonly StoredPack[]): void {
    for (const pack of packs) {
      this.#packs.push(pack);
      this.#length += pack.count;
      this.budget.holdStored(pack.bytes);
    }
  }

  /** Replaces packs in memory, `most` of them at most, by what `store` has made of each; returns how many there were. */
  store(most: number, store: (pack: RowPack) => StoredPack): number {
    let stored = 0;
    for (const [at, pack] of this.#packs.entries()) {
      if (!(pack instanceof RowPack)) continue;
      if (stored === most) break;
      const place = store(pack);
      this.budget.holdPacked(-pack.bytes);
      this.budget.holdStored(place.bytes);
      pack.giveBack(this.budget.blocks);
      this.#packs[at] = place;
      stored++;
    }
    return stored;
  }

  /** Brings rows of files up to that one, `most` packs at most, into a newer file: `put` returns its number, null: no room. */
  moveOn(file: number, most: number, put: (rows: readonly LogValues[]) => number | null): void {
    let left = most;
    for (const [at, pack] of this.#packs.entries()) {
      if (pack.file > file) continue;
      if (left-- === 0) return;
      const rows = pack.rows();
      const newer = rows.length === 0 ? file : put(rows);
      if (newer === null) return;
      const packs: Pack[] = [];
      this.#add(rows, newer, packs);
      this.#release(this.#packs.splice(at, 1, ...packs));
    }
  }

  forgetAll(): void {
    this.#release(this.#packs.splice(0));
  }

  /** Forgets rows with so many columns that are older than `id`, and may keep some of them; false: there are none. */
  forgetBefore(id: string, columns: number): boolean {
    const isOver = ({ width, lastId }: Pack) => width === columns && lastId < id;
    const over = this.#packs.filter(isOver);
    if (over.length > 0) this.#packs = this.#packs.filter((pack) => !isOver(pack));
    this.#release(over);
    return over.length > 0;
  }

  /** Adds rows behind those of `packs`. */
  #add(rows: readonly LogValues[], file: number, packs: Pack[]): void {
    const { budget } = this;
    for (let from = 0; from < rows.length;) {
      const rest = from === 0 ? rows : rows.slice(from);
      let pack = packs.at(-1);
      let held = pack?.bytes ?? 0;
      let taken = pack?.add(rest, budget.blocks) ?? 0;
      if (taken === 0) {
        pack = new RowPack(rest[0] ?? [], file, pack ?? this.#packs[0]);
        packs.push(pack);
        held = 0;
        taken = pack.add(rest, budget.blocks);
      }
      budget.holdPacked((pack?.bytes ?? 0) - held);
      from += taken;
    }
    this.#length += rows.length;
  }

  #release(packs: readonly Pack[]): void {
    for (const pack of packs) {
      this.#length -= pack.count;
      if (pack instanceof RowPack) this.budget.holdPacked(-pack.bytes);
      else this.budget.holdStored(-pack.bytes);
      pack.giveBack(this.budget.blocks);
    }
  }
}
