// Schemas of SQL over HTTP: what validates a request also documents it.
import { z } from "zod";
import { blob, rowPreview, ruleHit, sqlValue } from "../http/schemas.ts";
import { documented } from "../middleware/list_of.ts";
import { MAX_BATCH_STATEMENTS, MAX_PARAM_SETS, MAX_SQL_LENGTH } from "../../lib/core/limits.ts";

/** A bound value: NULL, text, number, boolean (0 or 1) or a blob. */
const sqlParameter = z.union([z.string(), z.number(), z.null(), z.boolean(), blob]);

/** Odd values that are told: each costs time, and a body has room for a million of them. */
const MAX_ODD = 50;
const ODD_VALUE = "Send a string, a number, null, true, false or a $blob here";
const LIST =
  "Send a list as the text of a JSON array, and write IN (SELECT value FROM json_each(?)); of rows, INSERT INTO … SELECT value ->> 0, value ->> 1 FROM json_each(?)";

/** Trying each value against the union takes longer than running most statements, so `tellOddValues` tries only odd ones. */
const values = z.array(
  z.any().meta(documented(sqlParameter)),
  "Send an array here: a value for each ? in its order",
);

/** The values of one run. */
const parameters = values.check(({ value, issues }) => tellOddValues(value, [], issues));

/** The values of many runs. */
const paramSets = z.array(values).min(1).max(MAX_PARAM_SETS).check(({ value: sets, issues }) => {
  for (const [at, set] of sets.entries()) tellOddValues(set, [at], issues);
});

/** Adds an issue for each value that no statement can bind, until there are enough of them. */
export function tellOddValues(
  set: readonly unknown[],
  path: readonly number[],
  issues: z.core.$ZodRawIssue[],
): void {
  for (let place = 0; place < set.length; place++) {
    const value = set[place];
    if (issues.length >= MAX_ODD) return;
    if (isPlainParameter(value) || sqlParameter.safeParse(value).success) continue;
    issues.push({
      code: "custom",
      message: Array.isArray(value) ? LIST : ODD_VALUE,
      path: [...path, place],
      input: value,
    });
  }
}

function isPlainParameter(value: unknown): boolean {
  return typeof value === "string" || value === null || typeof value === "boolean" ||
    (typeof value === "number" && Number.isFinite(value));
}

/** One statement. */
export const statementBody = z.strictObject({
  sql: z.string().max(MAX_SQL_LENGTH).describe("One SQL statement; ? and ?N are placeholders"),
  params: parameters.optional().describe("One value for each placeholder"),
}).meta({ examples: [{ sql: "SELECT id, note FROM orders WHERE total > ? ORDER BY id", params: [10] }] });

/** Several statements, or one with many parameter sets. */
export const batchBody = z.strictObject({
  statements: z.array(statementBody).min(1).max(MAX_BATCH_STATEMENTS).optional(),
  sql: statementBody.shape.sql.optional().describe("One statement that runs once for each of paramSets"),
  paramSets: paramSets.optional().describe("Values for each run of sql, in the order of the runs"),
  transaction: z.boolean().optional().describe(
    "All or nothing; otherwise statements commit one by one up to the first error",
  ),
}).check(({ value: { statements, sql, paramSets }, issues }) => {
  const add = (path: string, message: string) =>
    issues.push({ code: "custom", message, path: [path], input: undefined });
  const missing = "Add this field; it is required";
  if (statements !== undefined) {
    const other = sql !== undefined ? "sql" : paramSets !== undefined ? "paramSets" : null;
    if (other) add(other, "Send either statements, or sql with paramSets");
  } else if (sql === undefined && paramSets === undefined) add("statements", missing);
  else if (sql === undefined) add("sql", missing);
  else if (paramSets === undefined) add("paramSets", missing);
}).meta({
  anyOf: [{ required: ["statements"] }, { required: ["sql", "paramSets"] }],
  examples: [{
    statements: [
      { sql: "INSERT INTO orders (note, total) VALUES (?, ?)", params: ["by phone", 12.5] },
      { sql: "SELECT count(*) FROM orders" },
    ],
    transaction: true,
  }],
});

/** The result of one statement. */
export const queryResult = z.object({
  columns: z.array(z.string()),
  rows: z.array(z.array(sqlValue)),
  rowsRead: z.int(),
  rowsWritten: z.int(),
});

/** The result of one statement that has run with many parameter sets: what all returned, and figures of each set. */
export const setsResult = queryResult.extend({
  sets: z.object({
    rowsReturned: z.array(z.int()).nullable().describe("How many of rows each set returned; null: none can"),
    rowsWritten: z.array(z.int()).nullable().describe("Null for a statement that only reads"),
    lastInsertRowid: z.array(z.union([z.int(), z.string()]).nullable()).nullable().describe(
      "Rowid of the last row that each set added; null where the statement does not tell",
    ),
  }).describe("One entry for each set, in their order"),
});

/** What a write would do. */
export const writePreview = z.object({
  sql: z.string(),
  plan: z.array(z.array(sqlValue)),
  estimatedAffectedRows: z.int().nullable().describe(
    "The statement's own rows; null for a change of the schema, and where the time for a dry run was up",
  ),
  cascadedRows: z.int().nullable().describe("What triggers and foreign keys add; null where the time was up"),
  action: z.enum(["write", "schema", "read"]),
  preview: rowPreview.nullable(),
  rule: z.enum(["deny", "require_approval"]).optional().describe(
    "What a rule would do; absent where none stops it",
  ),
  hits: z.array(ruleHit).optional(),
});

/** Figures of a call. */
export const queryMeta = z.object({
  rowsRead: z.int(),
  rowsWritten: z.int(),
  durationMs: z.int(),
  statementCount: z.int(),
  costUsd: z.number(),
  snapshot: z.string().nullable(),
  queryLogId: z.string(),
  rowsReadBasis: z.enum(["engine", "plan"]),
  warnings: z.array(z.string()).optional().describe("What the statements do that hardly anybody means"),
});
