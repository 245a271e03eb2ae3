// Short ways to merge the branch `pr-1` of a shop, for tests.
import type { ApiAnswer } from "../testing/call_api.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { branchesIn, type BranchWorld } from "./branch_world.ts";

export interface MergeOptions {
  readonly mode?: "schema" | "data";
  readonly onConflict?: "abort" | "theirs" | "ours";
  readonly dryRun?: boolean;
}

export function mergeBranch({ call }: BranchWorld, options: MergeOptions = {}): Promise<ApiAnswer> {
  return call("POST", "branches/pr-1/merge", { mode: "data", onConflict: "abort", ...options });
}

export async function withBranch(
  body: (world: BranchWorld) => Promise<void>,
  setup: readonly string[] = [],
): Promise<void> {
  await using app = await startApp();
  await body(await branchIn(app, "acme", setup));
}

/** The same in one more namespace of an app. */
export async function branchIn(
  app: StartedApp,
  slug: string,
  setup: readonly string[] = [],
): Promise<BranchWorld> {
  const world = await branchesIn(app, slug);
  for (const sql of setup) await world.trunk(sql);
  await world.claim();
  return world;
}

export async function onBranch(world: BranchWorld, ...statements: readonly string[]): Promise<void> {
  for (const sql of statements) await world.branch("pr-1", sql);
}
