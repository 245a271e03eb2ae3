// What is wrong with the inputs of a specification beyond their form: members that do not fit the type, min above
// max, repeated names, patterns that take too long, defaults that the input itself would refuse.
import type { FieldSpec } from "../../../core/endpoint_spec.ts";
import type { Issue } from "../../../core/errors.ts";
import { patternIssue } from "./pattern_issue.ts";
import { prepareField } from "./prepare_spec.ts";
import { readDefault } from "./read_value.ts";
import type { SpecParts } from "./spec_parts.ts";
import { brokenRule, type FieldRule } from "./validate_input.ts";

type FieldType = FieldSpec["type"];

type LimitedMember = "pattern" | "enum" | "min" | "max" | "maxLength" | "minLength" | "trim";

/** Types whose values have a length. */
const LONG: readonly FieldType[] = ["text", "email", "url", "json", "match", "blob"];

/** Members that not every type has. */
const typesOf: readonly (readonly [member: LimitedMember, types: readonly FieldType[]])[] = [
  ["pattern", ["text"]],
  ["enum", ["text"]],
  ["min", ["integer", "number"]],
  ["max", ["integer", "number"]],
  ["maxLength", LONG],
  ["minLength", LONG],
  ["trim", ["text", "email", "url"]],
];

/** One issue for each fault of an input. */
export async function fieldIssues({ input, auth }: SpecParts): Promise<Issue[]> {
  const issues: Issue[] = [];
  const seen = new Set<string>();
  for (const [at, field] of (input ?? []).entries()) {
    if (field === null) continue;
    const add = (member: string, message: string) => issues.push({ path: `input[${at}].${member}`, message });
    if (seen.has(field.name)) add("name", "Choose another name; an input before it has this one");
    seen.add(field.name);
    if (field.name.startsWith("$") && auth !== "session") {
      add("name", "Set auth to session; fields with $ come from a session");
    }
    for (const [member, types] of typesOf) {
      if (field[member] !== undefined && !types.includes(field.type)) {
        add(member, `Remove this or change the type; it is for ${types.join(", ")} only`);
      }
    }
    const pattern = field.pattern === undefined ? null : await patternIssue(field.pattern);
    if (pattern !== null) add("pattern", pattern);
    if (field.enum !== undefined && new Set(field.enum).size < field.enum.length) {
      add("enum", "List every value once");
    }
    if (field.min !== undefined && field.max !== undefined && field.min > field.max) {
      add("min", "Set min to at most max");
    }
    if (field.minLength !== undefined && field.minLength > (field.maxLength ?? Infinity)) {
      add("minLength", "Set minLength to at most maxLength");
    }
    // A refused pattern matches nothing, so the default is checked without it.
    const fault = defaultIssue(pattern === null ? field : { ...field, pattern: undefined });
    if (fault !== null) add("default", fault);
  }
  return issues;
}

/**
 * Whether the default of an input is a value that the input itself would accept. What is wrong with it, or null. A
 * default of null is what an absent input binds anyway.
 */
function defaultIssue(field: FieldSpec): string | null {
  const read = readDefault(field);
  if (!read.ok) return typeMessages[field.type];
  const rule = brokenRule(prepareField(field, 0), read.value, read.length);
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
  match: "Set a default of words to search for",
  date: "Set a default that is a date, as 2026-11-22",
  datetime: "Set a default that is a time with its offset, as 2026-11-22T16:40:00Z",
  uuid: "Set a default that is a UUID",
  blob: "Set a default that is base64",
};

const ruleMessages: Readonly<Record<FieldRule, string>> = {
  maxLength: "Set a default of at most maxLength characters",
  minLength: "Set a default of at least minLength characters",
  enum: "Set a default that enum lists",
  pattern: "Set a default that pattern matches",
  min: "Set a default of at least min",
  max: "Set a default of at most max",
};
