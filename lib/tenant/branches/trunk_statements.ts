// The statements by which one table of the trunk is looked at and written.
import { MAX_PARAMETERS } from "../../core/limits.ts";
import { quoteIdentifier as quoted } from "../../sql/quote.ts";
import type { TablePair } from "./table_pair.ts";
import type { AskedStatement, Row } from "./work.ts";

/** What is to be written for one change, once it is decided. */
export type Write =
  | { readonly kind: "insert"; readonly row: Row }
  | { readonly kind: "delete"; readonly key: Row }
  | { readonly kind: "update"; readonly key: Row; readonly places: readonly number[]; readonly row: Row };

/** Said in each statement, because a constraint may have a clause of its own, which could end the transaction. */
export type OnClash = "ABORT" | "REPLACE";

/** The statements of one table. */
export class TrunkStatements {
  readonly #name: string;
  readonly #columns: readonly string[];
  readonly #key: readonly string[];
  readonly #isKey: string;

  constructor(pair: TablePair) {
    this.#name = quoted(pair.table);
    this.#columns = pair.columns.map(quoted);
    this.#key = pair.key.map((at) => this.#columns[at] ?? "");
    this.#isKey = this.#key.map((name) => `${name} = ?`).join(" AND ");
  }

  /** Rows of those keys, each behind the number of its key: the engine compares as the table's columns say. */
  lookUp(keys: readonly (readonly [number: bigint, ...key: Row])[]): AskedStatement {
    const marks = marksOf(1 + this.#key.length);
    const columns = this.#columns.map((name) => `t.${name}`).join(", ");
    const same = this.#key.map((name, at) => `t.${name} = k.column${at + 2}`).join(" AND ");
    const sql = `SELECT k.column1, ${columns} FROM (VALUES ${keys.map(() => marks).join(", ")}) AS k ` +
      `CROSS JOIN ${this.#name} AS t ON ${same}`;
    return { sql, params: keys.flat() };
  }

  write(write: Write, or: OnClash): AskedStatement {
    if (write.kind === "delete") {
      return { sql: `DELETE FROM ${this.#name} WHERE ${this.#isKey}`, params: write.key };
    }
    if (write.kind === "insert") return this.#insert([write.row], or);
    const sets = write.places.map((at) => `${this.#columns[at]} = ?`).join(", ");
    return {
      sql: `UPDATE OR ${or} ${this.#name} SET ${sets} WHERE ${this.#isKey}`,
      params: [...write.places.map((at) => write.row[at] ?? null), ...write.key],
    };
  }

  /** New rows in one statement; null: they are not all new, or too many. */
  insertAll(writes: readonly Write[]): AskedStatement | null {
    const rows = writes.flatMap((write) => write.kind === "insert" ? [write.row] : []);
    if (rows.length < 2 || rows.length < writes.length) return null;
    return rows.length * this.#columns.length > MAX_PARAMETERS ? null : this.#insert(rows, "ABORT");
  }

  #insert(rows: readonly Row[], or: OnClash): AskedStatement {
    const marks = marksOf(this.#columns.length);
    const values = rows.map(() => marks).join(", ");
    const sql = `INSERT OR ${or} INTO ${this.#name} (${this.#columns.join(", ")}) VALUES ${values}`;
    return { sql, params: rows.flat() };
  }
}

function marksOf(count: number): string {
  return `(${Array<string>(count).fill("?").join(", ")})`;
}
