// What services need of a tool's call: the same as of a request to /v1.
import type { BranchContext } from "../../../lib/services/branches/branch_context.ts";
import type { MergeContext } from "../../../lib/services/branches/run_merge.ts";
import type { StatementsContext } from "../../../lib/services/query/run_statements.ts";
import type { RestoreContext } from "../../../lib/services/snapshots/restore_snapshot.ts";
import type { DatabaseCall } from "./tool.ts";

/** For SQL. */
export function statementsOf({ visit: { deps, caller }, target }: DatabaseCall): StatementsContext {
  return { ...deps.query, target, tokenId: caller.tokenId };
}

/** For branches and snapshots. */
export function branchesOf({ visit: { deps, caller }, target }: DatabaseCall): BranchContext {
  const { control, tenants, clock } = deps;
  return { control, tenants, clock, target, caller };
}

/** For what may wait for a person: writes, merges and restores. */
export function heldOf(call: DatabaseCall): StatementsContext & MergeContext & RestoreContext {
  return { ...statementsOf(call), ...branchesOf(call) };
}
