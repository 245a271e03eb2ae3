// The inputs of an endpoint as JSON Schema (2020-12): what discovery shows and the API description refers to.
import type { EndpointSpec, FieldSpec } from "../../../core/endpoint_spec.ts";
import { MAX_EMAIL_LENGTH, MAX_QUESTION_LENGTH, MAX_URL_LENGTH } from "../../../core/limits.ts";
import { isNewPassword } from "../../endpoints/spec/prepare_spec.ts";
import { isSafeRange } from "../../endpoints/spec/read_value.ts";

interface Schema extends Readonly<Record<string, unknown>> {
  readonly maxLength?: number;
  readonly minLength?: number;
}

/** A new password has 8 to 1024 characters. */
const PASSWORD: Schema = { minLength: 8, maxLength: 1024, writeOnly: true };
const QUESTION: Schema = { maxLength: MAX_QUESTION_LENGTH };

/** A JSON Schema of one flat object. */
export interface InputSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
  /** For kinds that are called in two ways. */
  readonly oneOf?: readonly { readonly required: readonly string[] }[];
}

/** The inputs that a caller sends: fields that come from the session are left out. */
export function inputSchema(spec: Pick<EndpointSpec, "kind" | "method" | "input">): InputSchema {
  const fields = spec.input.filter(({ name }) => !name.startsWith("$"));
  const forms = inputForms[spec.kind];
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(spec, field)])),
    required: fields.filter(({ required }) => required === true).map(({ name }) => name),
    additionalProperties: false,
    ...(forms === undefined ? {} : { oneOf: forms.map((required) => ({ required })) }),
  };
}

/** Inputs that come together, where a kind is called in two ways: an address alone asks for a mail with a link. */
export const inputForms: Readonly<Partial<Record<EndpointSpec["kind"], readonly (readonly string[])[]>>> = {
  auth_reset: [["email"], ["token", "password"]],
  auth_verify: [["email"], ["token"]],
};

const forms: Readonly<Record<FieldSpec["type"], (field: FieldSpec) => Schema>> = {
  text: () => ({ type: "string" }),
  email: () => ({ type: "string", format: "email", maxLength: MAX_EMAIL_LENGTH }),
  url: () => ({
    type: "string",
    format: "uri",
    pattern: "^[Hh][Tt][Tt][Pp][Ss]?://",
    maxLength: MAX_URL_LENGTH,
  }),
  integer: integerForm,
  number: (field) => ({ type: "number", ...range(field) }),
  boolean: () => ({ type: "boolean" }),
  json: () => ({}),
  match: () => ({ type: "string", minLength: 1 }),
  date: () => ({ type: "string", format: "date" }),
  datetime: () => ({ type: "string", format: "date-time" }),
  uuid: () => ({ type: "string", format: "uuid" }),
  blob: () => BLOB,
};

const BLOB: Schema = { type: "string", contentEncoding: "base64" };

/** A blob in a body, where it may also be what answers show. Generators of clients know a choice of forms, not of types. */
const POSTED_BLOB: Schema = {
  anyOf: [BLOB, { type: "object", properties: { $blob: BLOB }, required: ["$blob"] }],
};

/**
 * Beyond 2^53 an integer is a string of digits, and a schema cannot express its range. So the pattern admits a little
 * more than the endpoint, which refuses digits within 2^53 and beyond 64 bits.
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
  const { name, label = name, type, pattern, maxLength, minLength } = field;
  const form: Schema = {
    ...(type === "blob" && spec.method === "POST" ? POSTED_BLOB : forms[type](field)),
    ...(isNewPassword(spec.kind, name) ? PASSWORD : {}),
    ...(spec.kind === "ask" && name === "question" ? QUESTION : {}),
  };
  const schema = {
    title: label,
    ...form,
    ...(pattern === undefined ? {} : { pattern }),
    ...(field.enum === undefined ? {} : { enum: field.enum }),
    // For json it bounds the text and for a blob the bytes, which a schema of the value cannot express.
    ...(maxLength === undefined || type === "json" || type === "blob"
      ? {}
      : { maxLength: Math.min(maxLength, form.maxLength ?? maxLength) }),
    ...(minLength === undefined || type === "json" || type === "blob"
      ? {}
      : { minLength: Math.max(minLength, form.minLength ?? minLength) }),
    ...presetOf(field),
  };
  // A query string has no null.
  const takesNull = field.required !== true && inputForms[spec.kind] === undefined;
  return spec.method === "GET" ? schema : withNull(schema, takesNull);
}

/**
 * The default of a `json` input is stored as its text. A default of null says only that the field may be left out.
 */
function presetOf({ type, default: preset }: FieldSpec): Schema {
  if (preset === undefined || preset === null) return {};
  return { default: type === "json" && typeof preset === "string" ? jsonOf(preset) : preset };
}

/** The validator of specifications has parsed this text before. */
function jsonOf(text: string): unknown {
  return JSON.parse(text);
}

/** A JSON null is an explicit NULL, which only a required field refuses. */
function withNull(schema: Schema, isTaken: boolean): Schema {
  const { type, anyOf, enum: values } = schema;
  if (Array.isArray(anyOf)) return isTaken ? { ...schema, anyOf: [...anyOf, { type: "null" }] } : schema;
  if (type === undefined) return isTaken ? schema : { ...schema, not: { type: "null" } };
  if (!isTaken) return schema;
  return {
    ...schema,
    type: [type, "null"].flat(),
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
}
