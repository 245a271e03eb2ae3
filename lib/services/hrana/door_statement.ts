// One statement of a request as the pipeline takes it: its text found, its placeholders numbered, its values in order.
import { AppError } from "../../core/errors.ts";
import type { FactsCache } from "../../query/facts_cache.ts";
import type { QueryStatement } from "../../query/query_call.ts";
import { type OwnText, ownText } from "../../sql/service/own_text.ts";
import type { SyntaxResult } from "../../sql/grammar/syntax.ts";
import { type TransactionControl, transactionControl } from "../../sql/tokens/transaction_control.ts";
import { toParameter } from "./door_values.ts";
import type { WireStatement, WireText } from "./hrana_types.ts";

/** A text that has been read. */
export interface DoorText extends OwnText {
  /** Set where it begins, ends or divides a transaction. */
  readonly control: TransactionControl | null;
  /** What the grammar says, or why it cannot be read, which the pipeline tells. */
  readonly read: SyntaxResult;
}

/** What is known of texts. */
export type DoorFacts = Pick<FactsCache, "syntax" | "ahead">;

/** A statement ready to run. */
export interface DoorStatement extends QueryStatement {
  readonly text: DoorText;
  /** False: the caller wants none of the rows. */
  readonly wantsRows: boolean;
}

/** Finds the texts of `sql_id`. */
export type FindText = (id: number) => string | undefined;

/** The text of a request. Errors: `validation_failed`. */
export function textOf({ sql, sql_id: id }: WireText, find: FindText): string {
  const hasId = id !== undefined && id !== null;
  if (typeof sql === "string") return hasId ? missingText() : sql;
  const stored = hasId ? find(id) : missingText();
  if (stored !== undefined) return stored;
  throw new AppError("validation_failed", {
    message: "Store the text with store_sql first; this stream has none with the number of sql_id",
  });
}

function missingText(): never {
  throw new AppError("validation_failed", { message: "Send either sql or sql_id with a statement" });
}

/** By the grammar's answer, which is one object as long as it is cached. Texts may share one: the text tells them apart. */
const known = new WeakMap<SyntaxResult, { readonly of: string; readonly text: DoorText }>();

/** Reads a text; what the grammar says comes from a cache, and what follows from it stays with that. */
export function readText(facts: DoorFacts, sql: string): DoorText {
  const first = facts.syntax(sql);
  const before = known.get(first);
  if (before?.of === sql) return before.text;
  const text = understood(facts, sql, first);
  known.set(first, { of: sql, text });
  return text;
}

function understood(facts: DoorFacts, sql: string, first: SyntaxResult): DoorText {
  const control = transactionControl(sql);
  if (control !== null) return { sql, control, read: first, names: null };
  const own = facts.ahead("own", sql) ?? ownText(sql, first);
  return { ...own, control: null, read: own.sql === sql ? first : facts.syntax(own.sql) };
}

/** A statement with its values; `path` is where it stands in the request. Errors: `validation_failed`, `sql_error`. */
export function readStatement(
  facts: DoorFacts,
  stmt: WireStatement,
  { find, path }: { readonly find: FindText; readonly path: string },
): DoorStatement {
  const text = readText(facts, textOf(stmt, find));
  return {
    text,
    sql: text.sql,
    params: valuesOf(text, stmt, path),
    wantsRows: stmt.want_rows !== false,
  };
}

function valuesOf(text: DoorText, { args, named_args: named }: WireStatement, path: string) {
  const values = (args ?? []).map((value, at) => toParameter(value, `${path}.args[${at}]`));
  if (!named || named.length === 0) return values;
  const own = new Map(
    named.map(({ name, value }, at) => [name, toParameter(value, `${path}.named_args[${at}].value`)]),
  );
  const names = text.names ?? [];
  const all = names.map((name, at) => {
    const found = name === null ? undefined : own.get(own.has(name) ? name : name.slice(1));
    return found === undefined ? values[at] : found;
  });
  const known = new Set(names.flatMap((name) => name === null ? [] : [name, name.slice(1)]));
  const unknown = [...own.keys()].some((name) => !known.has(name));
  const bound = all.filter((value) => value !== undefined);
  if (!unknown && bound.length === all.length && values.length <= all.length) return bound;
  throw new AppError("sql_error", {
    message: unknown
      ? "Leave out values in named_args whose names are not in the statement"
      : "Send one value for each placeholder of the statement",
    detail: {
      kind: "parameter_mismatch",
      table: null,
      column: null,
      hint: "Each :name, @name or $name takes the value that named_args has for it, with or without the mark",
    },
  });
}
