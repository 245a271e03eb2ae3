// Which input of a specification each parameter of its statement takes.
import type { Issue } from "../../../core/errors.ts";
import { inputPlaceholders } from "../../../sql/input_placeholders.ts";
import type { SpecParts } from "./spec_parts.ts";

/** A statement as the engine gets it. */
export interface EndpointStatement {
  readonly sql: string;
  /** The index in `input` of what parameter N takes, at N − 1. */
  readonly inputs: readonly number[];
}

/** The statement of a specification, or what is wrong with its placeholders. */
export type BoundInputs =
  | { readonly ok: true; readonly statement: EndpointStatement }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** A malformed input counts as one that the statement names. */
export function bindInputs(spec: Pick<SpecParts, "kind" | "sql" | "input">): BoundInputs {
  const { kind, sql = "", input = [] } = spec;
  // A log-in's password is compared, never bound.
  const takes = (name: string | undefined) => kind !== "auth_login" || name !== "password";
  const bound = input.flatMap((field, at) => takes(field?.name) ? [at] : []);
  const { sql: text, names, mixed } = inputPlaceholders(sql);
  if (mixed) return fault([MIXED]);
  if (names === null) return { ok: true, statement: { sql, inputs: bound } };
  const indexes = names.map((name) => bound.findIndex((at) => input[at]?.name === name));
  if (spec.input === undefined || input.includes(null)) {
    return { ok: true, statement: { sql: text, inputs: [] } };
  }
  const issues = [
    ...names.filter((_, at) => (indexes[at] ?? -1) < 0).map((name) => unknown(name, input, bound)),
    ...bound.filter((at) => !names.includes(input[at]?.name ?? "")).map((at) => ({
      path: `input[${at}].name`,
      message: `Write ${placeholder(input[at]?.name ?? "")} in the statement, or remove this input`,
    })),
  ];
  if (issues.length > 0) return fault(issues);
  return { ok: true, statement: { sql: text, inputs: indexes.map((index) => bound[index] ?? -1) } };
}

const MIXED: Issue = {
  path: "sql",
  message: "Write ? for every input, in their order, or :name for every input; this statement has both",
};

function unknown(name: string, input: NonNullable<SpecParts["input"]>, bound: readonly number[]): Issue {
  if (name === "password" && input.some((field) => field?.name === name)) {
    return { path: "sql", message: "Remove :password; a log-in compares it with the hash itself" };
  }
  const known = bound.map((at) => placeholder(input[at]?.name ?? "")).join(", ");
  const written = /^[$@]/.test(name) ? name : `:${name}`;
  return {
    path: "sql",
    message: `Add an input for ${written.slice(0, 64)}, or write one that is there: ${known || "none is"}`,
  };
}

function placeholder(name: string): string {
  return name.startsWith("$") ? name : `:${name}`;
}

function fault(issues: readonly Issue[]): BoundInputs {
  return { ok: false, issues };
}
