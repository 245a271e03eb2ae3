// Whether the default of an input is a value that the input itself would accept.
import type { FieldSpec } from "../../core/endpoint_spec.ts";
import { brokenRule, type FieldRule } from "../published/broken_rule.ts";
import { prepareField } from "../published/prepare_spec.ts";
import { readDefault } from "../published/read_value.ts";

/** What is wrong with it, or null. A default of null is what an absent input binds anyway. */
export function defaultIssue(field: FieldSpec): string | null {
  const read = readDefault(field);
  if (!read.ok) return typeMessages[field.type];
  const rule = brokenRule(prepareField(field, 0), read.value);
  return rule === null ? null : ruleMessages[rule];
}

const typeMessages: Readonly<Record<FieldSpec["type"], string>> = {
  text: "Set a default of the type text, without U+0000 and lone surrogates",
  email: "Set a default that is an email address",
  url: "Set a default that is an http or https URL",
  integer: "Set a default of the type integer",
  number: "Set a default of the type number",
  boolean: "Set a default of the type boolean",
  json: "Set a default that is the text of JSON, in quotes",
};

const ruleMessages: Readonly<Record<FieldRule, string>> = {
  maxLength: "Set a default of at most maxLength characters",
  enum: "Set a default that enum lists",
  pattern: "Set a default that pattern matches",
  min: "Set a default of at least min",
  max: "Set a default of at most max",
};
