// What a gate may compile in the thread that serves: a few milliseconds of it, whatever the texts say.
import { charactersOf } from "../../../core/plain_text.ts";
import type { SyntaxResult } from "../../../sql/grammar/syntax.ts";
import { type CallWeight, type Expansion, LIGHT_WEIGHT, noWeight, tooWide } from "./expansion.ts";

/** Characters of a text that is read here; what is known of a longer one is not kept. */
const MAX_READ = 10_000;
/** Characters of a call, with the views in it and the triggers behind it, that compile in some milliseconds. */
const MAX_CHARACTERS = 5000;
/** Tables and queries of a statement times the columns of the widest table: `*` may stand for all of them. */
const MAX_COLUMNS = 5000;
/** Characters of a schema that is made once for many calls, and of one that is made for a call. */
const MAX_SCHEMA = { shared: 50_000, own: 20_000 } as const;

/** Of each character of a schema, what the engine needs to read it again, as it does for each ALTER TABLE. */
const ALTER_PART = 0.25;

/** The work may take longer than the thread may be kept. It has changed nothing. */
export class TakesLong extends Error {
  override readonly name = "TakesLong";
}

/** Read when it is first asked for. */
interface ReadSchema {
  readonly expansion: Expansion;
}

/** What is quick in one schema. */
export class QuickOnly {
  readonly #characters: number;
  /** Columns of the widest table, or more. */
  readonly #widest: number;

  constructor(schema: readonly string[]) {
    this.#characters = charactersOf(schema);
    this.#widest = schema.reduce((most, sql) => Math.max(most, columnsIn(sql)), 1);
  }

  /** Throws `TakesLong` where reading one of the texts takes long. */
  mayRead(statements: readonly { readonly sql: string }[]): void {
    if (statements.some(({ sql }) => sql.length > MAX_READ)) throw new TakesLong();
  }

  /** Throws `TakesLong` where making the schema takes long. */
  mayMake(schema: keyof typeof MAX_SCHEMA): void {
    if (this.#characters > MAX_SCHEMA[schema]) throw new TakesLong();
  }

  /** Throws `TakesLong` where one more ALTER TABLE of the call that `weight` counts takes long. */
  mayAlter(weight: CallWeight): void {
    weight.characters += this.#characters * ALTER_PART;
    if (weight.characters > MAX_CHARACTERS) throw new TakesLong();
  }

  /** Throws `TakesLong` where listing the columns of all views takes long. */
  mayList(schema: ReadSchema): void {
    this.mayMake("shared");
    const { parts, characters } = schema.expansion.views;
    if (characters > MAX_CHARACTERS || parts * this.#widest > MAX_COLUMNS) throw new TakesLong();
  }

  /** Throws `TakesLong` where the statement takes long, behind those of the call that `weight` has counted. */
  mayCompile(
    { source, weight }: { readonly source: ReadSchema; readonly weight: CallWeight },
    sql: string,
    syntaxOf: (sql: string) => SyntaxResult,
  ): void {
    this.mayMake("shared");
    const read = syntaxOf(sql);
    if (!read.ok) return;
    const { tableUses, widths, class: kind } = read.syntax;
    const amount = source.expansion.amount(sql, tableUses, kind !== "read");
    if (amount === null) return;
    weight.characters += amount.characters;
    const wide = noWeight();
    const isLight = tooWide(widths, wide) === null && wide.sum === 0 && amount.weight <= LIGHT_WEIGHT;
    if (kind === "schema") weight.columns = Math.max(weight.columns, columnsIn(sql));
    const columns = amount.parts * Math.max(this.#widest, weight.columns);
    if (!isLight || weight.characters > MAX_CHARACTERS || columns > MAX_COLUMNS) throw new TakesLong();
  }
}

/** As many as the text can define, or more. */
function columnsIn(sql: string): number {
  return sql.split(",").length;
}
