// Log rows that wait for long, in little memory: the values that they share stand once, the others are one text. As arrays of
// values they would be most of what the collector of garbage copies and marks, and five times as large.
import type { LogValue, LogValues } from "./log_columns.ts";
import { readText, type TextBlocks, type WrittenText } from "./text_blocks.ts";

/** Rows of one kind. */
export interface PackedRows {
  readonly count: number;
  /** The values of the columns that are not in the text: a row of this pack, or of one before. */
  readonly shared: LogValues;
  /** The other columns as JSON, by their number: one value, or one for each row. */
  readonly text: string | WrittenText;
  /** The id of the last row. */
  readonly lastId: string;
  /** Bytes that it takes, without values that an earlier pack holds too. */
  readonly bytes: number;
}

/** Bytes without texts. */
const PACKED_BYTES = 150;
/** Rows of one pack at most: those that are taken out of it leave the others to be packed again. */
const MOST_ROWS = 256;
/** The text of so many rows is in a block, which the collector of garbage copies nowhere. For fewer rows a block is too large. */
export const MANY_ROWS = 32;

/**
 * Packs rows in their order. `like`: rows packed before, which most have much in common with. The packs may be unpacked until
 * `giveBackText` gives their blocks back to `blocks`.
 */
export function packRows(
  rows: readonly LogValues[],
  like: PackedRows | undefined,
  blocks: TextBlocks,
): PackedRows[] {
  const packed: PackedRows[] = [];
  for (let from = 0; from < rows.length;) {
    const width = rows[from]?.length;
    let to = from + 1;
    while (to < rows.length && to - from < MOST_ROWS && rows[to]?.length === width) to++;
    packed.push(packAlike(rows.slice(from, to), packed.at(-1) ?? like, blocks));
    from = to;
  }
  return packed;
}

/** The rows as they were. */
export function unpackRows({ count, shared, text }: PackedRows): LogValues[] {
  const json = typeof text === "string" ? text : readText(text);
  const columns: Record<number, LogValue | LogValue[]> = JSON.parse(json);
  return Array.from({ length: count }, (_, row) =>
    shared.map((value, at) => {
      const column = columns[at];
      if (column === undefined) return value;
      return Array.isArray(column) ? column[row] ?? null : column;
    }));
}

/** Gives the pack's block back: later packs overwrite it. */
export function giveBackText({ text }: PackedRows, blocks: TextBlocks): void {
  if (typeof text !== "string") blocks.giveBack(text.block);
}

function packAlike(
  rows: readonly LogValues[],
  like: PackedRows | undefined,
  blocks: TextBlocks,
): PackedRows {
  const [first = []] = rows;
  const isLike = like?.shared.length === first.length;
  const differs = (shared: LogValues, at: number) => rows.some((row) => row[at] !== shared[at]);
  const shared = isLike && sharesMuch(first, like.shared) ? like.shared : first;
  const columns: Record<number, LogValue | LogValue[]> = {};
  for (const at of first.keys()) {
    if (differs(shared, at)) {
      columns[at] = differs(first, at) ? rows.map((row) => row[at] ?? null) : first[at] ?? null;
    }
  }
  const json = JSON.stringify(columns);
  const text = rows.length < MANY_ROWS ? json : blocks.write(json);
  const own = shared === like?.shared ? 0 : lengthOf(shared);
  const lastId = String(rows.at(-1)?.[0] ?? "");
  const length = typeof text === "string" ? text.length : text.block.length;
  return { count: rows.length, shared, text, lastId, bytes: PACKED_BYTES + length + own };
}

function sharesMuch(one: LogValues, other: LogValues): boolean {
  return one.filter((value, at) => value === other[at]).length * 2 > one.length;
}

function lengthOf(values: LogValues): number {
  return values.reduce((sum: number, value) => sum + (typeof value === "string" ? value.length : 8), 0);
}
