// The inputs of an endpoint as JSON Schema (2020-12): what discovery shows and the API description refers to.
import type { EndpointSpec, FieldSpec } from "../../core/endpoint_spec.ts";
import { MAX_EMAIL_LENGTH, MAX_QUESTION_LENGTH, MAX_URL_LENGTH } from "../../core/limits.ts";
import { isSafeRange } from "./is_safe_range.ts";

interface Schema extends Readonly<Record<string, unknown>> {
  readonly maxLength?: number;
}

/** Characters of a password (contract 8). */
const PASSWORD: Schema = { minLength: 8, maxLength: 1024, writeOnly: true };
const QUESTION: Schema = { maxLength: MAX_QUESTION_LENGTH };

export interface InputSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** Without the fields of a session: no caller sends those. */
export function inputSchema(spec: Pick<EndpointSpec, "kind" | "method" | "input">): InputSchema {
  const fields = spec.input.filter(({ name }) => !name.startsWith("$"));
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(spec, field)])),
    required: fields.filter(({ required }) => required === true).map(({ name }) => name),
    additionalProperties: false,
  };
}

const forms: Readonly<Record<FieldSpec["type"], (field: FieldSpec) => Schema>> = {
  text: () => ({ type: "string" }),
  email: () => ({ type: "string", format: "email", maxLength: MAX_EMAIL_LENGTH }),
  url: () => ({
    ...{ type: "string", format: "uri", pattern: "^[Hh][Tt][Tt][Pp][Ss]?://" },
    maxLength: MAX_URL_LENGTH,
  }),
  integer: integerForm,
  number: (field) => ({ type: "number", ...range(field) }),
  boolean: () => ({ type: "boolean" }),
  json: () => ({}),
};

/**
 * Beyond 2^53 it is a string of digits, whose range a schema cannot tell: the pattern takes a little more than the
 * endpoint, which refuses digits within 2^53 and beyond 64 bits.
 */
function integerForm(field: FieldSpec): Schema {
  if (isSafeRange(field)) return { type: "integer", ...range(field) };
  const { MIN_SAFE_INTEGER, MAX_SAFE_INTEGER } = Number;
  const { min = MIN_SAFE_INTEGER, max = MAX_SAFE_INTEGER } = field;
  return {
    type: ["integer", "string"],
    ...range({ min: Math.max(min, MIN_SAFE_INTEGER), max: Math.min(max, MAX_SAFE_INTEGER) }),
    pattern: "^-?\\d{16,19}$",
  };
}

function range({ min, max }: Pick<FieldSpec, "min" | "max">): Schema {
  return { ...(min === undefined ? {} : { minimum: min }), ...(max === undefined ? {} : { maximum: max }) };
}

function fieldSchema(spec: Pick<EndpointSpec, "kind" | "method">, field: FieldSpec): Schema {
  const { name, label = name, type, pattern, maxLength } = field;
  const form: Schema = {
    ...forms[type](field),
    ...(spec.kind === "auth_signup" && name === "password" ? PASSWORD : {}),
    ...(spec.kind === "ask" && name === "question" ? QUESTION : {}),
  };
  const schema = {
    title: label,
    ...form,
    ...(pattern === undefined ? {} : { pattern }),
    ...(field.enum === undefined ? {} : { enum: field.enum }),
    // Of JSON it bounds the text, which a schema of the value cannot say.
    ...(maxLength === undefined || type === "json"
      ? {}
      : { maxLength: Math.min(maxLength, form.maxLength ?? maxLength) }),
    ...presetOf(field),
  };
  // A query string has no null.
  return spec.method === "GET" ? schema : withNull(schema, field.required !== true);
}

/** One of JSON is kept as its text; one of null says no more than that the field may be left out. */
function presetOf({ type, default: preset }: FieldSpec): Schema {
  if (preset === undefined || preset === null) return {};
  return { default: type === "json" && typeof preset === "string" ? JSON.parse(preset) : preset };
}

/** A JSON null is an explicit NULL, which only a required field refuses. */
function withNull(schema: Schema, isTaken: boolean): Schema {
  const { type, enum: values } = schema;
  if (type === undefined) return isTaken ? schema : { ...schema, not: { type: "null" } };
  if (!isTaken) return schema;
  return {
    ...schema,
    type: [type, "null"].flat(),
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
}
