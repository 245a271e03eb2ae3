// The model: a plain SQLite in the test's own process, used as its manual says, and values in the form of the interface.
import { DatabaseSync } from "node:sqlite";
import { assert } from "@std/assert";
import type { Call, Statement } from "./random_statements.ts";

export interface PlainResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly rowsWritten: number;
  /** Rows of the statement alone, without those of triggers and references. */
  readonly ownRows: number;
}

export interface PlainAnswer {
  /** Of the statements that are kept. */
  readonly results: readonly PlainResult[];
  readonly failure: { readonly at: number; readonly kind: string; readonly message: string } | null;
}

/** Kinds of `errorDetail` by how SQLite's message begins; of everything else only that it fails is compared. */
const kinds: readonly (readonly [words: RegExp, kind: string])[] = [
  [/^UNIQUE constraint failed/, "unique_violation"],
  [/^NOT NULL constraint failed/, "not_null_violation"],
  [/^CHECK constraint failed/, "check_violation"],
  [/^FOREIGN KEY constraint failed/, "foreign_key_violation"],
  [/^cannot store|^datatype mismatch/, "type_mismatch"],
];

export const KINDS: readonly string[] = kinds.map(([, kind]) => kind);

export class PlainDatabase implements Disposable {
  readonly #database: DatabaseSync;

  constructor(path = ":memory:") {
    this.#database = new DatabaseSync(path, {
      enableForeignKeyConstraints: true,
      enableDoubleQuotedStringLiterals: false,
    });
  }

  /** Runs a text of many statements. */
  script(sql: string): void {
    this.#database.exec(sql);
  }

  /** As the interface promises: all or nothing with `transaction`, else each statement by itself up to the first error. */
  run({ statements, transaction }: Call): PlainAnswer {
    const results: PlainResult[] = [];
    const groups = transaction ? [statements] : statements.map((one) => [one]);
    let at = 0;
    for (const group of groups) {
      const before = results.length;
      try {
        this.#database.exec("BEGIN");
        for (const [offset, one] of group.entries()) {
          at = before + offset;
          // Makes a full-text index write what earlier statements have left in its memory, before anything is counted.
          this.#database.exec("SAVEPOINT one");
          results.push(this.#runOne(one));
        }
        this.#database.exec("COMMIT");
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
        return {
          results: results.slice(0, transaction ? 0 : before),
          failure: { at, ...failureOf(error) },
        };
      }
    }
    return { results, failure: null };
  }

  /** Rows that the statements would change in all, those of triggers and references too. */
  rowsChangedBy({ statements }: Call): number {
    this.#database.exec("BEGIN");
    try {
      return statements.reduce((sum, one) => sum + this.#runOne(one).rowsWritten, 0);
    } finally {
      this.#database.exec("ROLLBACK");
    }
  }

  rows(sql: string): readonly (readonly unknown[])[] {
    return this.#runOne({ sql, params: [] }).rows;
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #runOne({ sql, params }: Statement): PlainResult {
    const before = this.#count("total_changes()");
    const statement = this.#database.prepare(sql);
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    const rows: unknown[] = statement.all(...params.map(bound));
    const rowsWritten = this.#count("total_changes()") - before;
    return {
      columns: statement.columns().map(({ name }) => name),
      rows: rows.map((row) => Array.isArray(row) ? row.map(shown) : []),
      rowsWritten,
      ownRows: rowsWritten === 0 ? 0 : this.#count("changes()"),
    };
  }

  #count(what: string): number {
    const found = this.#database.prepare(`SELECT ${what} AS n`).get();
    return Number(found?.["n"]);
  }
}

/** By SQLite's own message. */
export function kindOf(message: string): string {
  return kinds.find(([words]) => words.test(message))?.[1] ?? "other";
}

function failureOf(error: unknown): { kind: string; message: string } {
  assert(error instanceof Error, String(error));
  return { kind: kindOf(error.message), message: error.message };
}

/** A parameter as it is sent, as SQLite takes it. */
function bound(value: unknown): null | number | bigint | string | Uint8Array {
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value === "string" || value === null) return value;
  const blob: unknown = typeof value === "object" ? Reflect.get(value, "$blob") : undefined;
  assert(typeof blob === "string");
  return Uint8Array.fromBase64(blob);
}

/** A value of a row as the interface tells it. */
function shown(value: unknown): unknown {
  if (typeof value === "bigint") {
    return value > 2n ** 53n - 1n || value < -(2n ** 53n - 1n) ? String(value) : Number(value);
  }
  if (value === Infinity) return "Infinity";
  if (value === -Infinity) return "-Infinity";
  return value instanceof Uint8Array ? { $blob: value.toBase64() } : value;
}
