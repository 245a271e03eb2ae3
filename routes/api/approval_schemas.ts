// What the answers about approvals hold, for whoever decides.
import { z } from "zod";
import { approvalRecord, rowPreview, sqlValue } from "../http/schemas.ts";

const rows = z.array(z.array(sqlValue));
const undone = z.object({
  at: z.string(),
  by: z.string(),
  byName: z.string(),
  snapshot: z.string().nullable().describe("Label of the state before it was taken back"),
}).nullable();
// Only what ran is ever undone. Generators of clients take no property whose one value is null, so it may be more elsewhere.
const outcome = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("ran"),
    at: z.string(),
    rowsWritten: z.int().nullable(),
    queryLogId: z.string().nullable(),
    snapshot: z.string().nullable().describe("Label of the snapshot that brings back the state before"),
    undone,
  }),
  z.object({
    kind: z.literal("came_back"),
    at: z.string(),
    approvedRows: z.int().nullable(),
    affectedRows: z.int().nullable(),
    undone,
  }),
  z.object({ kind: z.literal("failed"), at: z.string(), code: z.string(), undone }),
]).nullable().describe("What became of the last try to redeem it");

/** The query of the list. */
export const listQuery = z.strictObject({
  state: approvalRecord.shape.state.optional().meta({ examples: ["pending"] }),
});

/** An approval in the list. */
export const approvalDetail = approvalRecord.extend({
  databaseSlug: z.string().describe("As it stands in a path: slug@ref for a branch"),
  database: z.string(),
  branchRef: z.string(),
  requestedBy: z.string().describe("Id of the API token"),
  tokenId: z.string(),
  tokenName: z.string().nullable().describe("Or a person's address; null: the token has been revoked"),
  operation: z.enum(["query", "batch", "apply", "merge", "restore", "migrate", "import"]),
  affectedRows: z.int().nullable().describe("With triggers and cascades; null: not known"),
  cascadedRows: z.int().nullable().describe("How many of them triggers and cascades add; null: not known"),
  tolerance: z.int().describe("By how many rows that may differ when it runs"),
  look: z.int().describe("How often what it would do was looked at again; to be sent with an approval"),
  lookedAt: z.string(),
  askedAt: z.string(),
  decidedBy: z.string().nullable().describe("Id of the member, or operator; null: nobody yet, or a rule"),
  decidedByName: z.string().nullable(),
  snapshotFirst: z.boolean(),
  outcome,
  whole: z.boolean().describe(
    "False: too long for a list, so that statements and effects are empty; the approval itself has them",
  ),
  statements: z.array(
    z.object({
      sql: z.string(),
      params: z.array(
        z.union([sqlValue, z.object({ $integer: z.string() }), z.object({ $real: z.number() })]),
      ),
    }),
  ),
  paramSets: z.object({ count: z.int(), first: rows }).nullable().describe(
    "Set where the statement runs once for each of so many parameter sets; the first 100 of them",
  ),
  effects: z.array(z.object({
    ownRows: z.int().nullable(),
    cascadedRows: z.int(),
    plan: rows,
    preview: rowPreview.nullable().describe(
      "Up to 200 rows. Of an INSERT `before` has those that it changes; they come first in `after`, what it adds behind them",
    ),
  })).describe("Of each statement; empty: not known"),
  effect: z.object({
    affected: z.int().nullable(),
    cascaded: z.int().nullable(),
    rowsRead: z.int().nullable(),
  }).describe("Rows of all statements together"),
  restore: z.object({
    snapshot: z.string(),
    effect: z.unknown().describe("Tables and rows that it changes; null: the present state cannot be read"),
  }).nullable().describe("Set where a restore waits"),
  migrations: z.array(z.object({ name: z.string(), sha256: z.string(), statements: z.int() })).nullable()
    .describe("Set where migration files wait, whose statements these are"),
  merge: z.object({
    branchRef: z.string(),
    mode: z.enum(["schema", "data"]),
    onConflict: z.enum(["abort", "theirs", "ours"]),
    report: z.unknown().describe("What it would do, as a dry run of the merge tells it"),
  }).nullable().describe("Set where a merge waits rather than statements"),
});

/** What taking a write back would do. */
export const undoPreview = z.object({
  snapshot: z.string(),
  digest: z.string().nullable().describe("To be sent with the undo, which does exactly this"),
  rows: z.int().nullable().describe("Null: the present state cannot be read"),
  tables: z.array(z.object({
    table: z.string(),
    added: z.int(),
    removed: z.int(),
    changed: z.int(),
  })),
  schema: z.array(z.object({ type: z.string(), name: z.string(), change: z.string() })),
});

/** One approval by itself. */
export const approvalPage = approvalDetail.extend({
  plan: rows.describe("The engine's plan of all statements"),
  preview: rowPreview.nullable().describe("Of the first statement whose rows can be shown"),
  rules: z.array(z.object({
    id: z.string(),
    tableGlob: z.string(),
    actions: z.array(z.enum(["insert", "update", "delete", "schema"])).nullable(),
    effect: z.enum(["require_approval", "deny"]),
    minRows: z.int().nullable(),
    unboundedOnly: z.boolean(),
    tolerance: z.int(),
    note: z.string().nullable(),
    enabled: z.boolean(),
  })).describe("The rules that hold it, as they are now"),
});
