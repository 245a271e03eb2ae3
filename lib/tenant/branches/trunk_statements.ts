// The statements that read and write one table of the trunk.
import { MAX_PARAMETERS } from "../../core/limits.ts";
import { quoteIdentifier as quoted } from "../../sql/words/quote.ts";
import { tagged } from "../../sql/words/stored_text.ts";
import { boundValue, guarded, markOf } from "./stored_values.ts";
import { sizeOf } from "./row_lines.ts";
import type { TablePair } from "./table_pair.ts";
import type { AskedStatement, Row } from "./work.ts";

/** The write decided for one change. */
export type Write =
  | { readonly kind: "insert"; readonly row: Row }
  | { readonly kind: "delete"; readonly key: Row }
  | { readonly kind: "update"; readonly key: Row; readonly indexes: readonly number[]; readonly row: Row };

/** The key of a row behind its number. */
export type NumberedKey = readonly [number: bigint, ...key: Row];

/** Each statement names its conflict clause, because a constraint's own clause could end the transaction. */
export type OnClash = "ABORT" | "REPLACE";

/** How rows are looked up. */
export interface LookUpForm {
  /** In the form that `storedValue` reads. */
  readonly exactly: boolean;
}

/** Makes the statements of one table. */
export class TrunkStatements {
  readonly #name: string;
  readonly #columns: readonly string[];
  readonly #key: readonly string[];

  constructor(pair: TablePair) {
    this.#name = quoted(pair.table);
    this.#columns = pair.columns.map(quoted);
    this.#key = pair.key.map((at) => this.#columns[at] ?? "");
  }

  /** Reads the rows with the given keys, each after its key's index; the engine compares by the columns' rules. */
  lookUp(keys: readonly NumberedKey[], { exactly }: LookUpForm): AskedStatement {
    return this.#ofKeys(
      this.#columns.map((name) => (exactly ? tagged : guarded)(`t.${name}`)).join(", "),
      keys,
    );
  }

  /** Reads about how many bytes the rows with the given keys have, each after its key's index. */
  sizes(keys: readonly NumberedKey[]): AskedStatement {
    return this.#ofKeys(sizeOf(this.#columns.map((name) => `CAST(t.${name} AS BLOB)`)), keys);
  }

  #ofKeys(select: string, keys: readonly NumberedKey[]): AskedStatement {
    const same = this.#key.map((name, at) => `t.${name} = k.column${at + 2}`).join(" AND ");
    const sql = `SELECT k.column1, ${select} FROM (VALUES ${keys.map(marksOf).join(", ")}) AS k ` +
      `CROSS JOIN ${this.#name} AS t ON ${same}`;
    return { sql, params: keys.flat().map(boundValue) };
  }

  write(write: Write, or: OnClash): AskedStatement {
    if (write.kind === "delete") {
      return {
        sql: `DELETE FROM ${this.#name} WHERE ${this.#isKey(write.key)}`,
        params: write.key.map(boundValue),
      };
    }
    if (write.kind === "insert") return this.#insert([write.row], or);
    const values = write.indexes.map((at) => write.row[at] ?? null);
    const sets = write.indexes.map((at, index) => `${this.#columns[at]} = ${markOf(values[index] ?? null)}`);
    return {
      sql: `UPDATE OR ${or} ${this.#name} SET ${sets.join(", ")} WHERE ${this.#isKey(write.key)}`,
      params: [...values, ...write.key].map(boundValue),
    };
  }

  /** Inserts new rows in one statement; null where not all are new or there are too many. */
  insertAll(writes: readonly Write[]): AskedStatement | null {
    const rows = writes.flatMap((write) => write.kind === "insert" ? [write.row] : []);
    if (rows.length < 2 || rows.length < writes.length) return null;
    return rows.length * this.#columns.length > MAX_PARAMETERS ? null : this.#insert(rows, "ABORT");
  }

  #insert(rows: readonly Row[], or: OnClash): AskedStatement {
    const values = rows.map(marksOf).join(", ");
    const sql = `INSERT OR ${or} INTO ${this.#name} (${this.#columns.join(", ")}) VALUES ${values}`;
    return { sql, params: rows.flat().map(boundValue) };
  }

  #isKey(key: Row): string {
    return this.#key.map((name, at) => `${name} = ${markOf(key[at] ?? null)}`).join(" AND ");
  }
}

function marksOf(row: Row): string {
  return `(${row.map((value) => markOf(value)).join(", ")})`;
}
