// Schemas of SQL over HTTP: what validates a request also documents it.
import { z } from "zod";
import { MAX_BATCH_STATEMENTS, MAX_SQL_LENGTH } from "../../lib/core/limits.ts";

const blob = z.strictObject({ $blob: z.base64().describe("Bytes as base64") });

/** A bound value: NULL, text, number, boolean (0 or 1) or a blob. */
export const sqlParameter = z.union([z.string(), z.number(), z.null(), z.boolean(), blob]);

/** One statement. */
export const statementBody = z.strictObject({
  sql: z.string().max(MAX_SQL_LENGTH).describe("One SQL statement; ? and ?N are placeholders"),
  params: z.array(sqlParameter).optional().describe("One value for each placeholder"),
}).meta({ examples: [{ sql: "SELECT id, note FROM orders WHERE total > ? ORDER BY id", params: [10] }] });

/** Several statements. */
export const batchBody = z.strictObject({
  statements: z.array(statementBody).min(1).max(MAX_BATCH_STATEMENTS),
  transaction: z.boolean().optional().describe(
    "All or nothing; otherwise statements commit one by one up to the first error",
  ),
}).meta({
  examples: [{
    statements: [
      { sql: "INSERT INTO orders (note, total) VALUES (?, ?)", params: ["by phone", 12.5] },
      { sql: "SELECT count(*) FROM orders" },
    ],
    transaction: true,
  }],
});

const sqlValue = z.union([z.string(), z.number(), z.null(), blob]);

/** The result of one statement. */
export const queryResult = z.object({
  columns: z.array(z.string()),
  rows: z.array(z.array(sqlValue)),
  rowsRead: z.int(),
  rowsWritten: z.int(),
});

/** What a write would do. */
export const writePreview = z.object({
  sql: z.string(),
  plan: z.array(z.array(sqlValue)),
  estimatedAffectedRows: z.int().nullable(),
  cascadedRows: z.int(),
  action: z.enum(["write", "schema", "read"]),
  preview: z.object({
    table: z.string(),
    columns: z.array(z.string()),
    keys: z.array(z.string()).describe("Columns of the primary key; empty where the table has none"),
    before: z.array(z.array(sqlValue)),
    after: z.array(z.array(sqlValue)),
  }).nullable(),
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
});
