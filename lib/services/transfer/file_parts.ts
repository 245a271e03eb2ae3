// The rows of a file in parts, each of which one transaction writes.
import type { Clock } from "../../core/clock.ts";
import { importLimits } from "../../core/limits_of_transfers.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import { refused } from "./check_item.ts";
import type { FileRow, RowsReader } from "./file_rows.ts";
import { uploadPieces } from "./spool_upload.ts";

/** Rows that follow each other in the file. */
export interface FilePart {
  readonly rows: readonly FileRow[];
  /** How many rows of the file are before it. */
  readonly first: number;
  /** The file has no other rows. */
  readonly isWhole: boolean;
}

/** The parts are the same each time, however the file comes in. Errors: `import_refused`, those of `uploadPieces`. */
export async function* fileParts(
  clock: Clock,
  { body, read, mayBeEmpty }: {
    readonly body: ReadableStream<Uint8Array> | null;
    readonly read: RowsReader;
    readonly mayBeEmpty: boolean;
  },
): AsyncGenerator<FilePart> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (piece?: Uint8Array) => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      throw refused("the text is not UTF-8; save it as such, in a spreadsheet as CSV UTF-8");
    }
  };
  let first = 0;
  let part = new GrowingPart();
  const take = (isLast: boolean): FilePart => {
    const { rows } = part;
    const taken = { rows, first, isWhole: isLast && first === 0 };
    first += rows.length;
    part = new GrowingPart();
    return taken;
  };
  for await (const piece of uploadPieces(body, clock, { mayBeEmpty })) {
    for (const row of read(decode(piece), false)) {
      if (!part.takes(row)) yield take(false);
      part.add(row);
    }
  }
  for (const row of read(decode(), true)) {
    if (!part.takes(row)) yield take(false);
    part.add(row);
  }
  if (part.rows.length > 0) yield take(true);
}

class GrowingPart {
  readonly rows: FileRow[] = [];
  readonly #columns = new Set<string>();
  #given = 0;
  #bytes = 0;

  /** Whether its transaction can take one more row. */
  takes({ columns }: FileRow): boolean {
    if (this.rows.length >= importLimits.rowsAtOnce) return false;
    const named = columns === this.rows.at(-1)?.columns
      ? this.#columns.size
      : this.#columns.union(new Set(columns)).size;
    // A row that is written has a value for each column that any of them names.
    const missing = named * this.rows.length - this.#given;
    return this.#bytes + 8 * missing < importLimits.bytesAtOnce;
  }

  add(row: FileRow): void {
    if (row.columns !== this.rows.at(-1)?.columns) {
      for (const name of row.columns) this.#columns.add(name);
    }
    this.rows.push(row);
    this.#given += row.values.length;
    for (const value of row.values) this.#bytes += bytesOf(value);
  }
}

/** About as many as it takes in memory: an empty text takes some, too. */
function bytesOf(value: SqlParameter): number {
  const text = typeof value === "object" && value !== null && "$blob" in value ? value.$blob : value;
  return typeof text === "string" ? Math.max(8, text.length) : 8;
}
