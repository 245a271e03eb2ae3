// Schemas of branches, of what they have changed, and of a merge.
import { z } from "zod";
import { BRANCH_REF_PATTERN } from "../../lib/access/slug.ts";
import { plainText } from "../../lib/core/text_checks.ts";
import { databaseState, isoTimestamp, role, secondsIn } from "../http/schemas.ts";
import { chosenSec } from "../../lib/core/limits.ts";

/** What a branch is claimed for. */
export const claimBody = z.strictObject({
  purpose: z.string().trim().min(1).max(200).check(plainText).describe("What it is for"),
  ttlSec: secondsIn(chosenSec.branch).default(chosenSec.branch.usual).describe(
    "Seconds until the branch is gone, and its token at the latest",
  ),
  role: role.default("write").describe("Of the token"),
  ref: z.string().regex(
    BRANCH_REF_PATTERN,
    "Send up to 64 lower-case letters, digits, dots, hyphens and underscores, a letter or digit first",
  ).optional().describe("Without it one is made of the purpose"),
}).meta({ examples: [{ purpose: "Try a new index", ttlSec: 3600, role: "write", ref: "new-index" }] });

/** How a branch is merged. */
export const mergeBody = z.strictObject({
  mode: z.enum(["schema", "data"]),
  onConflict: z.enum(["abort", "theirs", "ours"]).describe("theirs: the branch counts; ours: the trunk"),
  dryRun: z.boolean().default(false).describe("Report what it would do, and do nothing"),
}).meta({ examples: [{ mode: "data", onConflict: "abort" }] });

const named = {
  branchRef: z.string(),
  databaseId: z.string(),
  databaseSlug: z.string().describe("What goes into a path"),
};

/** A claimed branch with its token. */
export const branchClaim = z.object({
  ...named,
  namespaceSlug: z.string(),
  token: z.string().describe("Reaches the branch and nothing else; shown once"),
  tokenId: z.string(),
  role,
  expiresAt: isoTimestamp.describe(
    "Of the token: with the branch, or with the claimer's token if that is sooner",
  ),
  outcome: z.enum(["created", "reset"]),
});

/** A branch in a list. */
export const branch = z.object({
  ...named,
  purpose: z.string(),
  role,
  createdAt: isoTimestamp,
  copiedAt: isoTimestamp,
  expiresAt: isoTimestamp,
  sizeBytes: z.int(),
  state: databaseState,
});

const row = z.array(z.unknown());
const compared = {
  branchRef: z.string(),
  schema: z.object({
    statements: z.array(z.string()).describe(
      "Run in one batch on the trunk, they make its schema the branch's",
    ),
    changes: z.array(z.object({ type: z.string(), name: z.string(), change: z.string() })),
  }),
  tables: z.array(z.object({
    table: z.string(),
    columns: z.array(z.string()),
    primaryKey: z.array(z.string()).describe("Empty: none, so the rows cannot be merged"),
    added: z.int(),
    removed: z.int(),
    changed: z.int(),
    digest: z.string().describe("SHA-256 of all changes, hex"),
    rows: z.object({
      added: z.array(row),
      removed: z.array(row),
      changed: z.array(z.object({ before: row, after: row })),
    }).describe("At most 100 of each"),
    obstacle: z.string().nullable().describe("Why the rows cannot be merged"),
  })),
};

/** What a branch has changed. */
export const branchDiff = z.object(compared);

/** What a merge did or would do. */
export const mergeReport = z.object({
  ...compared,
  mode: z.enum(["schema", "data"]),
  dryRun: z.boolean(),
  conflicts: z.object({
    count: z.int(),
    digest: z.string().describe("SHA-256 of all of them, hex"),
    items: z.array(z.object({
      kind: z.enum(["schema", "row", "constraint", "foreign_key"]),
      table: z.string(),
      key: row,
      ancestor: row.nullable(),
      ours: row.nullable(),
      theirs: row.nullable(),
    })),
  }),
  writes: z.array(z.object({
    action: z.enum(["insert", "update", "delete", "schema"]),
    table: z.string(),
    rows: z.int().nullable().describe("Null where the schema changes"),
  })).describe("What the merge does to the trunk, as rules name it; a conflict may take rows away"),
  rowsWritten: z.int(),
  statementsRun: z.int(),
  mergedBefore: isoTimestamp.optional().describe(
    "Of a dry run: when rows of the branch were merged before; what the trunk has deleted of them since comes in again",
  ),
  snapshot: z.string().nullable().describe("Label of the trunk's snapshot before"),
});
