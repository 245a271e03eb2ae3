// R*Tree tables as `sqlite3`'s `.dump` writes them: their boxes are cells of nodes, which are blobs, and their other columns
// stand beside the rowids.
import { sqlTokens } from "../../../sql/tokens/sql_tokens.ts";
import { OddText, type StoredValue } from "../../../sql/words/stored_text.ts";
import { NotTaken } from "./not_taken.ts";

/** Bytes of a node before its cells, where the number of its cells stands in them, and bytes of a cell's rowid. */
const NODE_HEAD = 4;
const CELL_COUNT = 2;
const ROWID = 8;
const COORDINATE = 4;
/** Bytes of other columns that are kept until their boxes come: the child's heap has twice as many. */
const MAX_KEPT = 128 * 1024 * 1024;
/** Bytes that a row or a node takes beside its values, with the text of the dump of which they are parts. */
const ENTRY = 160;

/** What has come of the storage of one table. */
export class DumpedRtree {
  readonly #coordinates: number;
  readonly #integers: boolean;
  /** The nodes that hold rows; others hold nodes. */
  readonly #leaves = new Set<bigint>();
  /** What the rows have beside their boxes, by rowid. */
  readonly #others = new Map<bigint, readonly StoredValue[]>();
  #kept = 0;
  /** Rows whose boxes have not come. */
  #missing = 0;

  constructor(private readonly name: string, sql: string, module: string) {
    const tokens = sqlTokens(sql);
    const begins = (at: number) => tokens[at]?.depth === 1 && /^[(,]$/.test(tokens[at - 1]?.key ?? "");
    const columns = tokens.filter((token, at) => begins(at) && token.key !== "+").length;
    this.#coordinates = columns - 1;
    this.#integers = module === "rtree_i32";
  }

  /** The rows that are whole with these rows of a part of the storage. Throws `NotTaken`. */
  take(part: string, rows: readonly (readonly StoredValue[])[], at: string): StoredValue[][] {
    if (part === "rowid") { for (const row of rows) this.#note(row, at); }
    return part === "node" ? rows.flatMap(([number, data]) => this.#boxes(number, data, at)) : [];
  }

  /** Throws `NotTaken` where a row has no box. */
  end(): void {
    if (this.#missing !== 0) throw this.#damaged(null);
  }

  #note([rowid, leaf, ...others]: readonly StoredValue[], at: string): void {
    if (typeof rowid !== "bigint" || typeof leaf !== "bigint") throw this.#damaged(at);
    this.#missing++;
    if (!this.#leaves.has(leaf)) this.#keep(ENTRY, at);
    this.#leaves.add(leaf);
    if (others.length === 0) return;
    this.#keep(others.reduce((bytes: number, value) => bytes + bytesOf(value), ENTRY), at);
    this.#others.set(rowid, others);
  }

  #keep(bytes: number, at: string): void {
    this.#kept += bytes;
    if (this.#kept <= MAX_KEPT) return;
    throw new NotTaken(`the table ${this.name} has too much beside its boxes; send the SQLite file`, at);
  }

  #boxes(number: StoredValue = null, data: StoredValue = null, at: string): StoredValue[][] {
    if (typeof number !== "bigint" || !(data instanceof Uint8Array)) throw this.#damaged(at);
    if (!this.#leaves.has(number)) return [];
    const view = new DataView(data.buffer, data.byteOffset, data.length);
    const cellBytes = ROWID + this.#coordinates * COORDINATE;
    const count = data.length < NODE_HEAD ? Infinity : view.getUint16(CELL_COUNT);
    if (NODE_HEAD + count * cellBytes > data.length) throw this.#damaged(at);
    this.#missing -= count;
    return Array.from({ length: count }, (_, cell) => {
      const start = NODE_HEAD + cell * cellBytes;
      const rowid = view.getBigInt64(start);
      const box = Array.from({ length: this.#coordinates }, (_, index) => {
        const from = start + ROWID + index * COORDINATE;
        return this.#integers ? BigInt(view.getInt32(from)) : view.getFloat32(from);
      });
      return [rowid, ...box, ...this.#others.get(rowid) ?? []];
    });
  }

  #damaged(at: string | null): NotTaken {
    return new NotTaken(
      `the rows of the table ${this.name} are not whole in the dump; send the SQLite file`,
      at,
    );
  }
}

function bytesOf(value: StoredValue): number {
  if (typeof value === "string") return 2 * value.length;
  if (value instanceof OddText) return value.bytes.length;
  return value instanceof Uint8Array ? value.length : ROWID;
}
