// The inputs of an endpoint as JSON Schema (2020-12): what discovery shows and the API description refers to.
import type { EndpointSpec, FieldSpec } from "../../core/endpoint_spec.ts";
import { MAX_QUESTION_LENGTH } from "../../core/limits.ts";

/** Characters of a password (contract 8). */
const PASSWORD = { minLength: 8, maxLength: 1024, writeOnly: true } as const;
const QUESTION = { maxLength: MAX_QUESTION_LENGTH } as const;

export interface InputSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** Without the fields of a session: no caller sends those. */
export function inputSchema(spec: Pick<EndpointSpec, "kind" | "input">): InputSchema {
  const fields = spec.input.filter(({ name }) => !name.startsWith("$"));
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(spec.kind, field)])),
    required: fields.filter(({ required }) => required === true).map(({ name }) => name),
    additionalProperties: false,
  };
}

const forms: Readonly<Record<FieldSpec["type"], Readonly<Record<string, unknown>>>> = {
  text: { type: "string" },
  email: { type: "string", format: "email", maxLength: 320 },
  url: { type: "string", format: "uri", pattern: "^[Hh][Tt][Tt][Pp][Ss]?://" },
  integer: { type: "integer" },
  number: { type: "number" },
  boolean: { type: "boolean" },
  json: {},
};

function fieldSchema(kind: EndpointSpec["kind"], field: FieldSpec): Readonly<Record<string, unknown>> {
  const { label, type, pattern, min, max, maxLength } = field;
  const values = field.enum;
  return {
    ...(label === undefined ? {} : { title: label }),
    ...forms[type],
    ...(pattern === undefined ? {} : { pattern }),
    ...(values === undefined ? {} : { enum: values }),
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
    ...(kind === "auth_signup" && field.name === "password" ? PASSWORD : {}),
    ...(kind === "ask" && field.name === "question" ? QUESTION : {}),
    // Of JSON it bounds the text, which a schema of the value cannot say.
    ...(maxLength === undefined || type === "json" ? {} : { maxLength }),
    ...(field.default === undefined ? {} : { default: field.default }),
  };
}
