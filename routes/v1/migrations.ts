// GET and POST /v1/db/:ns/:db/migrations.
import { Hono } from "hono";
import { z } from "zod";
import { applyMigrations } from "../../lib/services/migrations/apply_migrations.ts";
import { listMigrations } from "../../lib/services/migrations/migration_state.ts";
import { rehearseMigrations } from "../../lib/services/migrations/rehearse_migrations.ts";
import { describing, sendWithRows } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { isoTimestamp, noQuery, ruleHit } from "../http/schemas.ts";
import { statementsContext } from "../http/service_contexts.ts";
import { rowFormOf } from "../middleware/header_flag.ts";
import { validate } from "../middleware/validate.ts";
import { branchDiff } from "./branch_schemas.ts";
import { doctorFinding } from "./schema.ts";

/** Files of one call: a project of many years has some hundreds, and sends all of them each time. */
const MAX_FILES = 1000;

const migrationsBody = z.strictObject({
  files: z.array(z.strictObject({
    name: z.string().regex(/^[\w.@+-][\w.@+ /-]{0,199}$/, {
      error: "Use 1 to 200 letters, digits, spaces and ._@+/-",
    }).describe("Files are applied in the order of their names; numbers in names count by their value"),
    sql: z.string().optional().describe("The whole file"),
    sha256: z.string().regex(/^[0-9a-f]{64}$/).optional().describe(
      "In its place, where a file is only recorded",
    ),
  })).min(1).max(MAX_FILES),
  baseline: z.boolean().default(false).describe("Record the files as applied without running them"),
  dryRun: z.boolean().default(false).describe("Try them on a copy and tell what they would do"),
}).refine(
  ({ baseline, files }) =>
    files.every(({ sql, sha256 }) => baseline ? (sql ?? sha256) !== undefined : sql !== undefined),
  {
    path: ["files"],
    error: "Send the sql of each file; sha256 alone is enough for a baseline",
  },
).refine(({ baseline, dryRun }) => !(baseline && dryRun), {
  path: ["dryRun"],
  error: "Leave out dryRun; a baseline runs nothing",
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

const rehearsal = branchDiff.omit({ branchRef: true }).extend({
  durationMs: z.number().describe("Of all files together, on a copy that nobody else uses"),
  rowsLost: z.array(z.object({ table: z.string(), before: z.int(), after: z.int().nullable() })).describe(
    "Tables that would have fewer rows; after null: they would be gone",
  ),
  findings: z.array(doctorFinding).describe("What the doctor finds behind them and did not find before"),
  rule: z.enum(["deny", "require_approval"]).nullable().describe(
    "What rules would do with all of them together",
  ),
  hits: z.array(ruleHit),
});

/** What has become of files. */
export const migrated = z.object({
  applied: z.array(z.string()).describe("Files that this call has applied, in their order"),
  pending: z.array(z.string()).describe("Files that are still to be applied"),
  snapshot: z.string().nullable().describe("Snapshot before the first of them that changes the schema"),
  drift,
  rehearsal: rehearsal.nullable().optional().describe("Of a dry run; null: nothing is pending"),
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
  warnings: z.array(z.string()).optional().describe(
    "What hardly anybody means, such as a trigger that goes with a table that is made anew",
  ),
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

const described = describing(["migrations"]);

/** Mounted under `/v1/db/:ns/:db`. */
export function migrationRoutes({ control, query }: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get(
      "/migrations",
      described("List the applied migrations, oldest first", z.array(migration), {
        meta: z.object({ drift }),
      }),
      validate("query", noQuery),
      async (c) => {
        const { data, drift } = await listMigrations(statementsContext(query, c));
        return c.json({ success: true, data, meta: { drift } });
      },
    )
    .post(
      "/migrations",
      described("Apply the migration files that are not applied yet", migrated, { meta: migrateMeta }),
      validate("json", migrationsBody),
      async (c) => {
        const { files, baseline, dryRun } = c.req.valid("json");
        const signal = () => c.req.raw.signal;
        if (dryRun) {
          const ctx = { ...statementsContext(query, c), control };
          const rehearsed = await rehearseMigrations(ctx, { files, rowForm: rowFormOf(c), signal });
          return sendWithRows(c, { success: true, ...rehearsed });
        }
        const input = { files, baseline, signal, plan: c.get("plan") };
        const { data, meta, replayed } = await applyMigrations(statementsContext(query, c), input);
        return c.json({ success: true, data, meta }, 200, replayed ? { "plan-replayed": "true" } : {});
      },
    );
}
