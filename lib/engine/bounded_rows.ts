// Reads the rows of one prepared statement within the bounds of its call.
import type { EngineValue } from "../sql/words/sql_value.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { arrayRows, arrayStatement } from "./array_rows.ts";
import { type BoundedSelect, boundedSelect, OVERFLOWS, RESULT_BYTES } from "./bounded_select.ts";
import { noteCompiled } from "./compiled_texts.ts";
import { isOutOfMemory } from "./engine_failure.ts";
import type { Guard } from "./guard.ts";
import { type ResultBounds, ResultTooLarge } from "./result_json.ts";

/** A result is small up to this part of the allowed bytes. The next result of the same text is then read uncounted. */
const SMALL_PART = 16;

/** The forms of one statement; each is compiled when it is first needed. */
export interface BoundedForms {
  /** The largest number of rows to read: one more than an answer may have. */
  readonly rowCount: number;
  readonly texts: BoundedSelect;
  counted: StatementSync | null;
  limited: StatementSync | null;
  /** Whether the statement's last result was small. */
  small: boolean;
}

/** Forms that compile with a schema. `small`: a result has one row at most. */
export type KnownForms = Pick<BoundedForms, "rowCount" | "texts" | "small">;

/** A tenant's statement with its forms. */
export interface Bounded {
  /** The text of a read; null for any other statement. */
  readonly sql: string | null;
  readonly columns: readonly string[];
  /** The bounded forms of a read that has run; null where it has none. */
  forms: BoundedForms | null | undefined;
  /** Forms that the read has in another database with the same schema. */
  readonly known: KnownForms | null;
}

/** Reads rows and counts their bytes. */
export class BoundedRows {
  readonly #count: { bytes: number; most: number } = { bytes: 0, most: Infinity };

  constructor(private readonly database: DatabaseSync, private readonly guard: Guard) {
    // The engine holds the function, so one that held the connection would keep it in memory for good.
    const count = this.#count;
    database.function(RESULT_BYTES, { directOnly: true }, (bytes) => {
      count.bytes += Number(bytes);
      return count.bytes > count.most ? OVERFLOWS : 1;
    });
  }

  /** The bounded forms of a compiled statement; null where the statement has none and is read unchanged. */
  formsOf(statement: Bounded, bounds: ResultBounds): BoundedForms | null {
    const { sql, forms, columns, known } = statement;
    if (sql === null || forms === null) return null;
    const rowCount = mostRows(bounds, columns.length);
    if (forms?.rowCount === rowCount) return forms;
    if (known?.rowCount === rowCount) return statement.forms = { ...known, counted: null, limited: null };
    return statement.forms = this.#compile(sql, columns.length, rowCount);
  }

  /** Reads the rows, at most one more than allowed. Throws what the engine throws, or `ResultTooLarge`. */
  read(
    forms: BoundedForms,
    values: readonly (null | number | bigint | string | Uint8Array)[],
    { maxBytes }: ResultBounds,
    big: boolean,
  ): EngineValue[][] {
    this.#count.bytes = 0;
    this.#count.most = maxBytes;
    this.guard.bounding = true;
    try {
      const { texts, small } = forms;
      const statement = small
        ? forms.limited ??= this.#prepare(texts.limited)
        : forms.counted ??= this.#prepare(texts.counted);
      statement.setReadBigInts(big);
      return arrayRows(statement.all(...values));
    } catch (error) {
      throw this.#count.bytes > maxBytes ? new ResultTooLarge(`more than ${maxBytes} bytes`) : error;
    } finally {
      this.guard.bounding = false;
    }
  }

  #compile(sql: string, columnCount: number, rowCount: number): BoundedForms | null {
    const texts = boundedSelect(sql, columnCount, rowCount);
    if (texts === null) return null;
    const { denial } = this.guard;
    this.guard.bounding = true;
    try {
      const counted = this.#prepare(texts.counted);
      if (texts.compound && this.#madeReal(texts.counted) > this.#madeReal(sql)) return null;
      return { rowCount, texts, counted, limited: null, small: false };
    } catch (error) {
      if (isOutOfMemory(error)) throw error;
      // The bounded form has one level or table too many: then only the process's memory bounds the result.
      this.guard.denial = denial;
      return null;
    } finally {
      this.guard.bounding = false;
    }
  }

  /** Counts where a statement turns integers into REAL, as it does in a compound whose first part has a REAL column. */
  #madeReal(sql: string): number {
    const steps = this.database.prepare(`EXPLAIN ${sql}`).all();
    return steps.filter((step) => step["opcode"] === "RealAffinity").length;
  }

  #prepare(sql: string): StatementSync {
    const statement = arrayStatement(this.database, sql);
    noteCompiled(this.database, sql);
    return statement;
  }
}

/** More rows than this exceed the bytes in any case: each value takes a character and a separator, each row brackets. */
function mostRows({ maxRows, maxBytes }: ResultBounds, columnCount: number): number {
  return Math.min(maxRows, Math.ceil(maxBytes / (2 * columnCount + 1))) + 1;
}

/** Notes whether a result of `bytes` was small. */
export function noteSize(forms: BoundedForms, bytes: number, { maxBytes }: ResultBounds): void {
  forms.small = bytes <= maxBytes / SMALL_PART;
}
