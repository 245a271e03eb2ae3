// Tools that make and merge branches, bring back a snapshot, and pass on a part of what the caller may do.
import { z } from "zod";
import { roles } from "../../../lib/core/role.ts";
import { plainText } from "../../../lib/core/text_checks.ts";
import { claimForSelf } from "../../../lib/services/branches/claim_branch.ts";
import { deleteBranch } from "../../../lib/services/branches/manage_branches.ts";
import { mergeBranch } from "../../../lib/services/branches/merge_branch.ts";
import { mintHandoff } from "../../../lib/services/handoff/mint_handoff.ts";
import { restoreSnapshot } from "../../../lib/services/snapshots/restore_snapshot.ts";
import { PLAIN_ROWS } from "../../../lib/sql/words/row_form.ts";
import { contentAnswer, ownAnswer } from "./answer.ts";
import { branchesOf, heldOf } from "./call_contexts.ts";
import { merged } from "./outcomes.ts";
import { hints, type Tool, tool } from "./tool.ts";
import { branchRef } from "./arguments.ts";
import { chosenSec } from "../../../lib/core/limits.ts";
import { secondsIn } from "../../http/schemas.ts";

/** In the order in which they are listed. */
export const branchTools: readonly Tool[] = [
  tool({
    name: "create_branch",
    title: "Create a branch",
    description:
      "Copies the database for a while, to try changes on the copy. Use the answer's database in later calls; nothing there touches the trunk until merge_branch.",
    role: "admin",
    hints: hints.adds,
    database: "trunk",
    input: {
      purpose: z.string().trim().min(1).max(200).check(plainText),
      ttlSec: secondsIn(chosenSec.branch).default(chosenSec.branch.usual).describe(
        "Seconds until it is gone",
      ),
    },
    run: async (call, input) => {
      const { databaseSlug, branchRef, expiresAt } = await claimForSelf(branchesOf(call), input);
      return ownAnswer({ database: databaseSlug, branchRef, expiresAt });
    },
  }),
  tool({
    name: "merge_branch",
    title: "Merge a branch",
    description:
      "Brings a branch's changes into its trunk: mode schema first where both differ, then data. onConflict abort changes nothing; theirs takes the branch's rows, ours the trunk's. Show the user a dryRun first; diff_branch shows the rows.",
    role: "admin",
    hints: hints.changes,
    database: "trunk",
    input: {
      branchRef,
      mode: z.enum(["schema", "data"]),
      onConflict: z.enum(["abort", "theirs", "ours"]),
      dryRun: z.boolean().default(false),
    },
    run: async (call, { branchRef: ref, ...how }) =>
      merged(await mergeBranch(heldOf(call), { ref, ...how, rowForm: PLAIN_ROWS })),
  }),
  tool({
    name: "delete_branch",
    title: "Delete a branch",
    description: "Deletes a branch with all that is in it. It cannot be taken back.",
    role: "admin",
    hints: { ...hints.changes, idempotentHint: true },
    database: "trunk",
    input: { branchRef },
    run: async (call, { branchRef: ref }) => {
      const { databaseSlug } = await deleteBranch(branchesOf(call), ref);
      return ownAnswer({ deleted: databaseSlug });
    },
  }),
  tool({
    name: "restore_snapshot",
    title: "Restore a snapshot",
    description:
      "Makes the whole database what it was at a snapshot of list_snapshots. The answer's undo is the snapshot of the state before. Rules can hold it.",
    role: "admin",
    hints: hints.changes,
    database: "any",
    input: { snapshot: z.string().min(1).max(200).describe("Its label") },
    run: async (call, input) => contentAnswer(await restoreSnapshot(heldOf(call), input)),
  }),
  tool({
    name: "hand_off",
    title: "Hand off access",
    description:
      "A single-use token by which another agent gets a token of its own for this database, with at most your role (POST /v1/handoff/redeem). Give it to nobody whom the user has not named.",
    role: "read",
    hints: hints.adds,
    database: "any",
    input: {
      role: z.enum(roles),
      ttlSec: secondsIn(chosenSec.handoff).describe("Seconds in which it can be redeemed"),
    },
    run: async (call, input) => {
      const ctx = { ...branchesOf(call), tokenId: call.visit.caller.tokenId };
      return ownAnswer(await mintHandoff(ctx, input));
    },
  }),
];
