// Which input of a specification, or which returned value, each parameter of its statements takes.
import type { Issue } from "../../../core/errors.ts";
import { MAX_ENDPOINT_STATEMENTS } from "../../../core/limits.ts";
import type { QueryStatement } from "../../../query/query_call.ts";
import { type InputParameter, inputPlaceholders } from "../../../sql/grammar/input_placeholders.ts";
import { type ReturnedColumns, returnedColumns } from "../../../sql/grammar/returned_columns.ts";
import { splitStatements } from "../../../sql/tokens/split_statements.ts";
import { type SqlParameter, unknownValue } from "../../../sql/words/sql_value.ts";
import type { TakenValue } from "../../../sql/words/taken_value.ts";
import { isListInput } from "./list_statements.ts";
import type { SpecParts } from "./spec_parts.ts";

/** A statement as the engine gets it. */
export interface EndpointStatement {
  /** As its owner has written it. */
  readonly written: string;
  readonly sql: string;
  /**
   * The index in `input` of what parameter N takes, at N − 1; null for a value of `takes`. Behind those of `input` come as
   * many that say whether each was sent (`$sent_name`).
   */
  readonly inputs: readonly (number | null)[];
  /** What it takes of rows that earlier statements have returned. */
  readonly takes: readonly TakenValue[];
  /** How its text returns rows that later statements take values of; null: they take none of it. */
  readonly returns: ReturnedColumns | null;
}

/** The statements of a specification, one unless it is a mutation, or what is wrong with their placeholders. */
export type BoundInputs =
  | { readonly ok: true; readonly statements: readonly EndpointStatement[] }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** `$sent_name` is 1 where the caller has sent the input `name`, also as null, and 0 where not. */
const SENT = "$sent_";

type Bindable = Pick<SpecParts, "kind" | "sql" | "input" | "list">;

/** A malformed input counts as one that the statements name. */
export function bindInputs(spec: Bindable): BoundInputs {
  const texts = textsOf(spec);
  if (texts.length > MAX_ENDPOINT_STATEMENTS) {
    return fault([{
      path: "sql",
      message: `Write at most ${MAX_ENDPOINT_STATEMENTS} statements; there are ${texts.length}`,
    }]);
  }
  const read = texts.map((written) => ({ written, ...inputPlaceholders(written) }));
  const all = read.flatMap(({ parameters }) => parameters);
  const names = new Set(all.flatMap((one) => one.is === "input" ? [one.name] : []));
  if (names.size > 0 && all.some(({ is }) => is === "next")) return fault([MIXED]);
  const issues = [
    ...(read[0]?.parameters ?? []).flatMap((one) =>
      one.is === "returned" ? [returnsNothing(one.column)] : []
    ),
    ...(names.size > 0 ? nameIssues(spec, names) : []),
  ];
  if (issues.length > 0) return fault(issues);
  const queue = boundInputs(spec);
  const count = spec.input?.length ?? 0;
  const byName = new Map(queue.flatMap((at) => {
    const name = spec.input?.[at]?.name;
    return [[name, at] as const, [`${SENT}${name}`, count + at] as const];
  }));
  const statements = read.map(({ written, sql, parameters }, at) => {
    const inputs = parameters.flatMap((one) => inputOf(one, byName, names.size > 0 ? [] : queue));
    // What is left over has no placeholder, which the validator finds by the numbers.
    const rest = at === read.length - 1 && names.size === 0 ? queue : [];
    const isTaken = read.slice(at + 1).some((later) => takesOf(later.parameters).length > 0);
    const returns = isTaken ? returnedColumns(sql) : null;
    return { written, sql, inputs: [...inputs, ...rest], takes: takesOf(parameters), returns };
  });
  return { ok: true, statements };
}

/** How many inputs a text of one or several statements names or has `?` for; `$sent_name` is about one of them. */
export function wantedInputs(sql: string): number {
  const all = splitStatements(sql).flatMap((part) => inputPlaceholders(part.sql).parameters);
  const named = all.flatMap((one) => one.is === "input" ? [one.name] : []);
  const names = new Set(named.filter((name) => !name.startsWith(SENT)));
  return names.size + all.filter(({ is }) => is === "next").length;
}

/** The statement with its values; what it takes of others is not known yet. */
export function boundStatement(
  { sql, inputs, takes, returns }: EndpointStatement,
  bound: readonly SqlParameter[],
): QueryStatement {
  const params = inputs.map((index) => index === null ? unknownValue : bound[index] ?? null);
  return {
    sql,
    params,
    ...(takes.length === 0 ? null : { takes }),
    ...(returns === null ? null : { returns }),
  };
}

/** Only a mutation may have several. */
function textsOf({ kind, sql = "" }: Bindable): string[] {
  const parts = kind === "mutation" ? splitStatements(sql) : [];
  return parts.length > 1 ? parts.map((part) => part.sql) : [sql];
}

/** A log-in's password is compared, never bound; what a list is asked for stands around its statement. */
function boundInputs({ kind, input = [], list }: Bindable): number[] {
  const isBound = (name: string | undefined) =>
    !(kind === "auth_login" && name === "password") && !isListInput({ list }, name);
  return input.flatMap((field, at) => isBound(field?.name) ? [at] : []);
}

function inputOf(
  one: InputParameter,
  byName: ReadonlyMap<string | undefined, number>,
  queue: number[],
): (number | null)[] {
  if (one.is === "returned") return [null];
  const at = one.is === "input" ? byName.get(one.name) : queue.shift();
  return at === undefined ? [] : [at];
}

function takesOf(parameters: readonly InputParameter[]): TakenValue[] {
  return parameters.flatMap((one, parameter) =>
    one.is === "returned" ? [{ parameter, column: one.column }] : []
  );
}

function nameIssues(spec: Bindable, names: ReadonlySet<string>): Issue[] {
  const { input } = spec;
  if (input === undefined || input.includes(null)) return [];
  const bound = boundInputs(spec).map((at) => ({ at, name: input[at]?.name ?? "" }));
  const isThere = (wanted: string) =>
    bound.some(({ name }) => name === wanted || !name.startsWith("$") && `${SENT}${name}` === wanted);
  return [
    ...[...names].filter((name) => !isThere(name)).map((name) => unknown(name, input, bound)),
    ...bound.filter(({ name }) => !names.has(name)).map(({ at, name }) => ({
      path: `input[${at}].name`,
      message: `Write ${placeholder(name)} in the statement, or remove this input`,
    })),
  ];
}

const MIXED: Issue = {
  path: "sql",
  message: "Write ? for every input, in their order, or :name for every input; this statement has both",
};

/** About a value that no earlier statement returns. */
export function returnsNothing(column: string): Issue {
  const name = column.slice(0, 64);
  return {
    path: "sql",
    message:
      `Return ${name} in an earlier statement, as by RETURNING ${name}; @${name} takes what was returned ` +
      "before, and :name is an input",
  };
}

function unknown(
  name: string,
  input: NonNullable<SpecParts["input"]>,
  bound: readonly { readonly name: string }[],
): Issue {
  if (name === "password" && input.some((field) => field?.name === name)) {
    return { path: "sql", message: "Remove :password; a log-in compares it with the hash itself" };
  }
  if (name.startsWith(SENT)) {
    return {
      path: "sql",
      message: `Add the input that ${name.slice(0, 64)} asks about, without the ${SENT}`,
    };
  }
  const known = bound.map((one) => placeholder(one.name)).join(", ");
  const written = placeholder(name).slice(0, 64);
  return {
    path: "sql",
    message: `Add an input for ${written}, or write one that is there: ${known || "none is"}`,
  };
}

function placeholder(name: string): string {
  return name.startsWith("$") ? name : `:${name}`;
}

function fault(issues: readonly Issue[]): BoundInputs {
  return { ok: false, issues };
}
