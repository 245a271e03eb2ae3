// Reads the rows of one prepared statement within the bounds of its call.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type BoundedSelect, boundedSelect, OVERFLOWS, RESULT_BYTES } from "./bounded_select.ts";
import { noteCompiled } from "./compiled_waste.ts";
import type { Guard } from "./guard.ts";
import { type EngineValue, type ResultBounds, ResultTooLarge } from "./result_json.ts";

/** A result of at most this part of the bytes is small: the next one of the same text is not counted while it is read. */
const SMALL_PART = 16;

/** The forms of one statement, compiled as they are needed. */
export interface BoundedForms {
  /** Rows at most, one more than may be told. */
  readonly rowCount: number;
  readonly texts: BoundedSelect;
  readonly counted: StatementSync;
  limited: StatementSync | null;
  /** Whether its last result was small. */
  small: boolean;
}

/** A statement of a tenant with its forms. */
export interface Bounded {
  /** The text of a read; null: it is none. */
  readonly sql: string | null;
  readonly columns: readonly string[];
  /** Of a read that has run; null where it has none. */
  forms: BoundedForms | null | undefined;
}

/** Reads rows and counts their bytes. */
export class BoundedRows {
  #bytes = 0;
  #maxBytes = Infinity;

  constructor(private readonly database: DatabaseSync, private readonly guard: Guard) {
    database.function(RESULT_BYTES, { directOnly: true }, (bytes) => {
      this.#bytes += Number(bytes);
      return this.#bytes > this.#maxBytes ? OVERFLOWS : 1;
    });
  }

  /** The forms of a statement that has been compiled as it is; null where it is read as it is. */
  formsOf(statement: Bounded, bounds: ResultBounds): BoundedForms | null {
    const { sql, forms, columns } = statement;
    if (sql === null || forms === null) return null;
    const rowCount = mostRows(bounds, columns.length);
    if (forms?.rowCount === rowCount) return forms;
    return statement.forms = this.#compile(sql, columns.length, rowCount);
  }

  /** Throws what the engine throws, or `ResultTooLarge`. The rows may be one more than allowed. */
  read(
    forms: BoundedForms,
    values: readonly (null | number | bigint | string | Uint8Array)[],
    { maxBytes }: ResultBounds,
    big: boolean,
  ): EngineValue[][] {
    this.#bytes = 0;
    this.#maxBytes = maxBytes;
    this.guard.bounding = true;
    try {
      const statement = forms.small ? forms.limited ??= this.#prepare(forms.texts.limited) : forms.counted;
      statement.setReadBigInts(big);
      return arrayRows(statement.all(...values));
    } catch (error) {
      throw this.#bytes > maxBytes ? new ResultTooLarge(`more than ${maxBytes} bytes`) : error;
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
    } catch {
      // One level or table too many: the memory of the process is its bound then.
      this.guard.denial = denial;
      return null;
    } finally {
      this.guard.bounding = false;
    }
  }

  /** How often a statement makes an integer a REAL, as it does where it reads a compound whose first part has such a column. */
  #madeReal(sql: string): number {
    const steps = this.database.prepare(`EXPLAIN ${sql}`).all();
    return steps.filter((step) => step["opcode"] === "RealAffinity").length;
  }

  #prepare(sql: string): StatementSync {
    const statement = this.database.prepare(sql);
    noteCompiled(sql);
    statement.setReturnArrays(true);
    return statement;
  }
}

/** Each value takes a character and what separates it, each row its brackets: more rows than that are too many bytes. */
function mostRows({ maxRows, maxBytes }: ResultBounds, columnCount: number): number {
  return Math.min(maxRows, Math.ceil(maxBytes / (2 * columnCount + 1))) + 1;
}

/** `bytes`: of a result that has been read. */
export function noteSize(forms: BoundedForms, bytes: number, { maxBytes }: ResultBounds): void {
  forms.small = bytes <= maxBytes / SMALL_PART;
}

/** With `setReturnArrays(true)` a row is an array of engine values; the type of `node:sqlite` does not say so. */
export function arrayRows(rows: unknown): EngineValue[][] {
  return Array.isArray(rows) ? rows : [];
}
