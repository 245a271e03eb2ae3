// What is wrong with the inputs of a specification beyond their form: members that do not fit the type, bounds the
// wrong way round, names twice, patterns that run away, defaults that the input itself would refuse.
import type { FieldSpec } from "../../core/endpoint_spec.ts";
import type { Issue } from "../../core/errors.ts";
import { defaultIssue } from "./default_issue.ts";
import { patternIssue } from "./pattern_issue.ts";
import type { SpecParts } from "./spec_parts.ts";

type FieldType = FieldSpec["type"];

/** Members that not every type has. */
const typesOf:
  readonly (readonly [member: "pattern" | "enum" | "min" | "max" | "maxLength", types: FieldType[]])[] = [
    ["pattern", ["text"]],
    ["enum", ["text"]],
    ["min", ["integer", "number"]],
    ["max", ["integer", "number"]],
    ["maxLength", ["text", "email", "url", "json"]],
  ];

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
    // Nothing matches a pattern that is refused itself.
    const fault = defaultIssue(pattern === null ? field : { ...field, pattern: undefined });
    if (fault !== null) add("default", fault);
  }
  return issues;
}
