// Zod's issues in the words and paths of this API. A message of the schema itself wins.
import { z } from "zod";
import type { Issue } from "../../lib/core/errors.ts";
import { MAX_ISSUES } from "../../lib/core/limits.ts";
import { listedFields, unknownField } from "../../lib/sql/hints/hints.ts";

const NO_OBJECT = "Send an object here";

/** The checked input, or what is wrong with it as `issues` of the envelope, which never contain a value of the request. */
export type ReadInput<Schema extends z.ZodType> =
  | { readonly ok: true; readonly data: z.output<Schema> }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * Checks in one go: where much is wrong, each check takes long. `beside`: fields that are known as well, and were taken out of the
 * input.
 */
export function readWith<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  beside: readonly string[] = [],
): ReadInput<Schema> {
  const parsed = schema.safeParse(input, { error: messageOf });
  if (parsed.success) return { ok: true, data: parsed.data };
  const issues = parsed.error.issues.slice(0, MAX_ISSUES).flatMap((issue) => toIssues(issue, schema, beside));
  return { ok: false, issues: issues.slice(0, MAX_ISSUES) };
}

/** What is wrong with `input`. */
export function issuesOf(schema: z.ZodType, input: unknown): readonly Issue[] {
  const read = readWith(schema, input);
  return read.ok ? [] : read.issues;
}

function toIssues(issue: z.core.$ZodIssue, schema: z.ZodType, beside: readonly string[]): Issue[] {
  if (issue.code === "unrecognized_keys") {
    const known = [...(issue.path.length === 0 ? beside : []), ...fieldsAt(schema, issue.path)];
    return issue.keys.slice(0, MAX_ISSUES).map((key) => ({
      path: pathText([...issue.path, key]),
      message: unknownField(key, known),
    }));
  }
  const fields = issue.message === NO_OBJECT ? listedFields(fieldsAt(schema, issue.path)) : "";
  return [{ path: pathText(issue.path), message: issue.message + (fields === "" ? "" : `, with ${fields}`) }];
}

/** The fields of the object that a schema asks for at `path`; empty where it asks for none. */
function fieldsAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  const wraps = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  if (wraps) return fieldsAt(schema.unwrap(), path);
  const [step, ...rest] = path;
  if (schema instanceof z.ZodArray && step !== undefined) return fieldsAt(schema.element, rest);
  if (!(schema instanceof z.ZodObject)) return [];
  return step === undefined ? Object.keys(schema.shape) : fieldsAt(schema.shape[String(step)], rest);
}

/** `["statements", 0, "sql"]` → `statements[0].sql`. */
function pathText(path: readonly PropertyKey[]): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? String(part) : `.${String(part)}`;
  }
  return text;
}

const nouns: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  record: "an object",
  null: "null",
};

const NO_FORM = "Send a value of an accepted form";

function messageOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined
        ? "Add this field; it is required"
        : `Send ${nouns[issue.expected] ?? issue.expected} here`;
    case "invalid_value":
      return `Send one of: ${issue.values.map(String).join(", ")}`;
    case "too_big":
      return `Send ${issue.inclusive === false ? "less than" : "at most"} ${issue.maximum} ${
        unit(issue.origin, issue.maximum)
      }`;
    case "too_small":
      return `Send ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum} ${
        unit(issue.origin, issue.minimum)
      }`;
    case "invalid_format":
      return issue.pattern === undefined
        ? `Send this in the format ${issue.format}`
        : `Send text that matches ${issue.pattern}`;
    case "not_multiple_of":
      return `Send a multiple of ${issue.divisor}`;
    case "unrecognized_keys":
      return "Remove the fields that are not known here";
    case "invalid_union":
      // Where one field says which form the others have, that field is at fault.
      if ("options" in issue && Array.isArray(issue.options)) {
        return `Send one of: ${issue.options.map(String).join(", ")}`;
      }
      return NO_FORM;
    default:
      return NO_FORM;
  }
}

function unit(origin: string, count: number | bigint): string {
  const many = count === 1 ? "" : "s";
  if (origin === "string") return `character${many}`;
  if (origin === "array" || origin === "set") return `element${many}`;
  return "here";
}
