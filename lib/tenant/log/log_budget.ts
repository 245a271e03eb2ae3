// How much memory the waiting log rows of all databases take together, and the memory of those that are packed.
import type { LogValues } from "../log_columns.ts";
import { TextBlocks } from "./text_blocks.ts";

/** Bytes of memory that the waiting rows of all databases may take, because a disk may stay full for a long time. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** The same of what tells where rows are that are on the disk alone. */
const MAX_STORED_BYTES = 48 * 1024 * 1024;
/** Bytes of memory of a row without its texts. */
const HELD_ROW_BYTES = 300;

/** The memory budget of the waiting log rows of all databases. */
export class LogBudget {
  readonly blocks = new TextBlocks();
  #bytes = 0;
  #packedBytes = 0;
  #storedBytes = 0;

  constructor(private readonly maxBytes = MAX_WAITING_BYTES) {}

  /** How much of it is used, up to 1. */
  get fullness(): number {
    return this.#bytes / this.maxBytes;
  }

  /** How much of it packed rows use. */
  get packedFullness(): number {
    return this.#packedBytes / this.maxBytes;
  }

  /** How much of the memory of rows that are on the disk alone is used, up to 1. */
  get storedFullness(): number {
    return this.#storedBytes / MAX_STORED_BYTES;
  }

  /** Reserves room for a row; false where there is none. */
  take(row: LogValues): boolean {
    const bytes = sizeOf(row);
    if (this.#bytes + bytes > this.maxBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  give(rows: readonly LogValues[]): void {
    for (const row of rows) this.#bytes -= sizeOf(row);
  }

  /** Notes that packed rows take so many bytes more, or less. */
  holdPacked(bytes: number): void {
    this.#bytes += bytes;
    this.#packedBytes += bytes;
  }

  /** The same of rows that are on the disk alone. */
  holdStored(bytes: number): void {
    this.#storedBytes += bytes;
  }
}

function sizeOf(row: LogValues): number {
  let bytes = HELD_ROW_BYTES;
  for (const value of row) if (typeof value === "string") bytes += value.length;
  return bytes;
}
