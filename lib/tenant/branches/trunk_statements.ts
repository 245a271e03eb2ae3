// The statements that read and write one table of the trunk.
import { MAX_PARAMETERS } from "../../core/limits.ts";
import { quoteIdentifier as quoted } from "../../sql/quote.ts";
import type { TablePair } from "./table_pair.ts";
import type { AskedStatement, Row } from "./work.ts";

/** The write decided for one change. */
export type Write =
  | { readonly kind: "insert"; readonly row: Row }
  | { readonly kind: "delete"; readonly key: Row }
  | { readonly kind: "update"; readonly key: Row; readonly indexes: readonly number[]; readonly row: Row };

/** Each statement names its conflict clause, because a constraint's own clause could end the transaction. */
export type OnClash = "ABORT" | "REPLACE";

/** Makes the statements of one table. */
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

  /** Reads the rows with the given keys, each after its key's index; the engine compares by the columns' rules. */
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
    const sets = write.indexes.map((at) => `${this.#columns[at]} = ?`).join(", ");
    return {
      sql: `UPDATE OR ${or} ${this.#name} SET ${sets} WHERE ${this.#isKey}`,
      params: [...write.indexes.map((at) => write.row[at] ?? null), ...write.key],
    };
  }

  /** Inserts new rows in one statement; null where not all are new or there are too many. */
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
