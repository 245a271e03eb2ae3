// GET and POST /v1/db/:ns/:db/migrations.
import { Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import type { QueryContext } from "../../lib/query/query_call.ts";
import { applyMigrations } from "../../lib/services/migrations/apply_migrations.ts";
import { listMigrations } from "../../lib/services/migrations/migration_state.ts";
import { answers } from "../http/answers.ts";
import type { Env } from "../http/env.ts";
import { isoTimestamp, noQuery } from "../http/schemas.ts";
import { statementsContext } from "../http/service_contexts.ts";
import { validate } from "../middleware/validate.ts";

/** Files of one call: a project of many years has some hundreds, and sends all of them each time. */
const MAX_FILES = 1000;

const migrationsBody = z.strictObject({
  files: z.array(z.strictObject({
    name: z.string().regex(/^[\w.@+-][\w.@+ /-]{0,199}$/, {
      error: "Use 1 to 200 letters, digits, spaces and ._@+/-",
    }).describe("Files are applied in the order of their names; numbers in names count by their value"),
    sql: z.string().describe("The whole file"),
  })).min(1).max(MAX_FILES),
  baseline: z.boolean().default(false).describe("Record the files as applied without running them"),
}).meta({
  examples: [{
    files: [{ name: "0001_notes.sql", sql: "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)" }],
  }],
});

const drift = z.array(z.object({
  type: z.enum(["table", "index", "view", "trigger"]),
  name: z.string(),
  change: z.enum(["added", "removed", "changed"]),
})).nullable().describe("What had changed in the schema since the newest migration; null: there was none");

/** What has become of files. */
export const migrated = z.object({
  applied: z.array(z.string()).describe("Files that this call has applied, in their order"),
  pending: z.array(z.string()).describe("Files that are still to be applied"),
  snapshot: z.string().nullable().describe("Snapshot before the first of them that changes the schema"),
  drift,
});

/** The figures of all files together. */
export const migrateMeta = z.object({
  rowsRead: z.int(),
  rowsWritten: z.int(),
  durationMs: z.number(),
  statementCount: z.int(),
  costUsd: z.number(),
  snapshot: z.string().nullable(),
  queryLogId: z.string().nullable().describe("Of the last file; null: none was applied"),
});

const migration = z.object({
  name: z.string(),
  sha256: z.string().describe("Of the file without a byte order mark and with line feeds only"),
  appliedAt: isoTimestamp,
  tokenId: z.string(),
  snapshot: z.string().nullable().describe(
    "Snapshot before it, or before the files that were applied with it",
  ),
  ran: z.boolean().describe("False: it was recorded only"),
});

const tags = ["migrations"];

/** Mounted under `/v1/db/:ns/:db`. */
export function migrationRoutes(query: QueryContext): Hono<Env> {
  return new Hono<Env>()
    .get(
      "/migrations",
      describeRoute({
        summary: "List the applied migrations, oldest first",
        tags,
        responses: answers(z.array(migration), { meta: z.object({ drift }) }),
      }),
      validate("query", noQuery),
      async (c) => {
        const { data, drift } = await listMigrations(statementsContext(query, c));
        return c.json({ success: true, data, meta: { drift } });
      },
    )
    .post(
      "/migrations",
      describeRoute({
        summary: "Apply the migration files that are not applied yet",
        tags,
        responses: answers(migrated, { meta: migrateMeta }),
      }),
      validate("json", migrationsBody),
      async (c) => {
        const { files, baseline } = c.req.valid("json");
        const input = { files, baseline, signal: () => c.req.raw.signal };
        const { data, meta } = await applyMigrations(statementsContext(query, c), input);
        return c.json({ success: true, data, meta });
      },
    );
}
