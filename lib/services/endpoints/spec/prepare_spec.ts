// A specification in the form that every call needs, made once for each specification.
import type { EndpointSpec, FieldSpec } from "../../../core/endpoint_spec.ts";
import { MAX_QUESTION_LENGTH } from "../../../core/limits.ts";
import { compilePattern } from "../../../core/linear_pattern.ts";
import type { SqlParameter } from "../../../sql/words/sql_value.ts";
import { bindInputs, type EndpointStatement } from "./bind_inputs.ts";
import { readDefault } from "./read_value.ts";

/** An input with its compiled pattern and its default. */
export interface PreparedField {
  readonly field: FieldSpec;
  /** In `input`. */
  readonly index: number;
  /** Filled from the session, never by the caller. */
  readonly fromSession: boolean;
  /** Null: every text matches. A pattern that does not compile matches none. */
  readonly matches: ((text: string) => boolean) | null;
  readonly allowed: ReadonlySet<string> | null;
  /** Bound when the input is absent. */
  readonly absent: SqlParameter;
  /** It has the bounds of a new password beside its own. */
  readonly isNewPassword: boolean;
}

/** The prepared inputs of a specification. */
export interface PreparedSpec {
  readonly fields: readonly PreparedField[];
  /** Those that a caller may send. */
  readonly byName: ReadonlyMap<string, PreparedField>;
  /** The one input that a caller may send as the body itself; null: there is no such. */
  readonly rawBody: string | null;
  readonly origins: ReadonlySet<string> | null;
  /** One unless it is a mutation; an empty text for a kind whose statement comes from elsewhere. */
  readonly statements: readonly EndpointStatement[];
  /** The one whose result is the answer. */
  readonly last: EndpointStatement;
}

const prepared = new WeakMap<EndpointSpec, PreparedSpec>();

/** The prepared form of a specification, cached by the specification's object. */
export function prepareSpec(spec: EndpointSpec): PreparedSpec {
  let known = prepared.get(spec);
  if (known === undefined) prepared.set(spec, known = prepare(spec));
  return known;
}

function prepare(spec: EndpointSpec): PreparedSpec {
  const bound = bindInputs(spec);
  const fields = spec.input.map((field, index) => ({
    ...prepareField(bounded(spec, field), index),
    isNewPassword: isNewPassword(spec.kind, field.name),
  }));
  // The validator of specifications has refused every other.
  const own = { written: spec.sql, sql: spec.sql, inputs: [], takes: [], returns: null };
  const statements = bound.ok ? bound.statements : [own];
  const [sent, ...others] = fields.filter((one) => !one.fromSession);
  return {
    fields,
    byName: new Map(fields.filter((one) => !one.fromSession).map((one) => [one.field.name, one])),
    rawBody: sent?.field.type === "blob" && others.length === 0 ? sent.field.name : null,
    origins: spec.cors === undefined ? null : new Set(spec.cors),
    statements,
    last: statements.at(-1) ?? own,
  };
}

function bounded({ kind }: EndpointSpec, field: FieldSpec): FieldSpec {
  if (kind !== "ask" || field.name !== "question") return field;
  return { ...field, maxLength: Math.min(field.maxLength ?? MAX_QUESTION_LENGTH, MAX_QUESTION_LENGTH) };
}

/** The prepared form of one input. */
export function prepareField(field: FieldSpec, index: number): PreparedField {
  const pattern = field.pattern === undefined ? null : compilePattern(field.pattern);
  const preset = readDefault(field);
  return {
    field,
    index,
    fromSession: field.name.startsWith("$"),
    matches: pattern === null ? null : pattern.ok ? pattern.test : () => false,
    allowed: field.enum === undefined ? null : new Set(field.enum),
    absent: preset.ok ? preset.value : null,
    isNewPassword: false,
  };
}

/** Whether an input of the kind is a password that is going to be an account's. */
export function isNewPassword(kind: EndpointSpec["kind"], name: string): boolean {
  return name === (kind === "auth_password" ? "new_password" : "password") &&
    ["auth_signup", "auth_password", "auth_reset"].includes(kind);
}
