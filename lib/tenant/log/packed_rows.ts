// Log rows that wait for long, in little memory: the values that they share stand once, the others are one text. As arrays of
// values they would be most of what the collector of garbage copies and marks, and five times as large.
import type { LogValues } from "../log_columns.ts";
import { readText, type TextBlocks, type WrittenText } from "./text_blocks.ts";

/** Bytes without texts. */
const PACKED_BYTES = 150;
/**
 * Rows of one pack at most. The text of so many is in a block, which the collector of garbage copies nowhere; for fewer a block
 * is too large.
 */
const MOST_ROWS = 64;
/** The columns that stand in the text of every pack: each row has an id and a time of its own. */
const OWN_COLUMNS = 0b11;

/** Rows of one kind, in their order, as they wait. */
export interface Pack {
  /** The number of the spool's first file that has some of the rows. */
  readonly file: number;
  /** Columns of a row. */
  readonly width: number;
  readonly count: number;
  /** The id of the last row. */
  readonly lastId: string;
  /** Bytes of memory that it takes, without values that an earlier pack holds too. */
  readonly bytes: number;
  /** Adds the first of these rows behind the others; returns how many, and none where the first belongs into another pack. */
  add(rows: readonly LogValues[], blocks: TextBlocks): number;
  /** The rows as they were. */
  rows(): LogValues[];
  /** Gives the block of its text back, which later packs overwrite. */
  giveBack(blocks: TextBlocks): void;
}

/** Rows in memory. */
export class RowPack implements Pack {
  lastId = "";
  count = 0;
  /** The values of the other columns: of the first row, or of a pack before. */
  readonly #shared: LogValues;
  /** Of these values, where no earlier pack holds them too. */
  readonly #sharedLength: number;
  /** The columns whose values are in the text, by their bits. */
  #columns = OWN_COLUMNS;
  /** Those values of all rows as JSON, without the array around them. */
  #text: string | WrittenText = "";

  /** `before`: a pack with which it may share values. */
  constructor(first: LogValues, readonly file: number, before?: Pack) {
    const isLike = before instanceof RowPack && sharesMuch(first, before.#shared);
    this.#shared = isLike ? before.#shared : first;
    this.#sharedLength = isLike ? 0 : lengthOf(first);
  }

  get width(): number {
    return this.#shared.length;
  }

  get bytes(): number {
    const text = this.#text;
    return PACKED_BYTES + this.#sharedLength + (typeof text === "string" ? text.length : text.block.length);
  }

  /** Bytes of the values of all rows. */
  get valueBytes(): number {
    return this.count * lengthOf(this.#shared, ~this.#columns) + this.#text.length;
  }

  /** All of it, for `readRecord`. */
  get record(): string {
    return `[${this.#columns},${JSON.stringify(this.#shared)},[${this.#ownText}]]`;
  }

  add(rows: readonly LogValues[], blocks: TextBlocks): number {
    const text = this.#text;
    if (typeof text !== "string") return 0;
    let columns = this.#columns;
    let taken = 0;
    for (; taken < rows.length && this.count + taken < MOST_ROWS; taken++) {
      const row = rows[taken] ?? [];
      if (row.length !== this.width) break;
      const wider = columns | differing(row, this.#shared);
      if (wider !== columns) {
        // Another pack takes less than these values would, once for each row.
        if ((this.count + taken) * lengthOf(this.#shared, wider & ~columns) > PACKED_BYTES) break;
        columns = wider;
      }
    }
    if (taken === 0) return 0;
    const before = columns === this.#columns ? text : ownText(this.rows(), columns);
    const more = ownText(taken === rows.length ? rows : rows.slice(0, taken), columns);
    this.#columns = columns;
    this.#text = this.count === 0 ? more : this.#added(before, more, this.count + taken);
    this.count += taken;
    this.lastId = String(rows[taken - 1]?.[0]);
    if (this.count === MOST_ROWS) this.#text = blocks.write(this.#text);
    return taken;
  }

  /**
   * V8 keeps a text that has been added to as its parts, three objects for each row. It becomes one each time that the rows
   * are twice as many, which copies each of them once: copied each time, it would be garbage among the old objects.
   */
  #added(text: string, more: string, count: number): string {
    return Math.clz32(count) < Math.clz32(this.count) ? [text, more].join(",") : `${text},${more}`;
  }

  rows(): LogValues[] {
    return unpacked(this.#columns, this.#shared, JSON.parse(`[${this.#ownText}]`));
  }

  giveBack(blocks: TextBlocks): void {
    if (typeof this.#text !== "string") blocks.giveBack(this.#text.block);
  }

  get #ownText(): string {
    return typeof this.#text === "string" ? this.#text : readText(this.#text);
  }
}

/** The rows of a pack. Throws a `SyntaxError` where the record is not whole. */
export function readRecord(record: string): LogValues[] {
  const [columns, shared, own]: [number, LogValues, LogValues[]] = JSON.parse(record);
  return unpacked(columns, shared, own);
}

/** `columns`: those of the own values, by their bits. */
function unpacked(columns: number, shared: LogValues, own: readonly LogValues[]): LogValues[] {
  return own.map((values) => {
    let next = 0;
    return shared.map((value, at) => columns & 1 << at ? values[next++] ?? null : value);
  });
}

function differing(row: LogValues, shared: LogValues): number {
  let columns = 0;
  for (let at = 0; at < row.length; at++) if (row[at] !== shared[at]) columns |= 1 << at;
  return columns;
}

/** The values of these columns as JSON: an array for each row. */
function ownText(rows: readonly LogValues[], columns: number): string {
  return JSON.stringify(rows.map((row) => row.filter((_, at) => columns & 1 << at))).slice(1, -1);
}

function sharesMuch(one: LogValues, other: LogValues): boolean {
  return one.length === other.length &&
    one.filter((value, at) => value === other[at]).length * 2 > one.length;
}

/** Bytes of the values of these columns. */
function lengthOf(values: LogValues, columns = -1): number {
  return values.reduce(
    (sum: number, value, at) =>
      (columns & 1 << at) === 0 ? sum : sum + (typeof value === "string" ? value.length : 8),
    0,
  );
}
