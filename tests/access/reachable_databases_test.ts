// Which databases a token is told that it reaches, where there are more than anybody reads.
import { assertEquals } from "@std/assert";
import type { TokenCaller } from "../../lib/access/caller.ts";
import { reachableDatabases } from "../../lib/access/reachable_databases.ts";
import type { BranchRecord, ScopeRow } from "../../lib/store/records.ts";
import { controlWorld } from "../testing/control_world.ts";

const MOST = 200;

Deno.test("a token is told of 200 databases and that there are more, and of those whose slugs begin as it asks", async () => {
  using world = await controlWorld();
  const { control } = world;
  const { id: namespaceId, slug: namespaceSlug } = await world.namespace();
  const slugOf = (at: number) => `d-${String(at).padStart(3, "0")}`;
  const made = [];
  for (let at = 0; at < MOST; at++) made.push(await world.database(namespaceId, slugOf(at)));
  const caller = (scopes: readonly ScopeRow[]): TokenCaller => {
    return {
      ...{ kind: "token", tokenId: "tok_1", name: "t", role: "admin", namespaceId, namespaceSlug },
      ...{ scopes, expiresAt: null },
    };
  };
  const told = async (scopes: readonly ScopeRow[], prefix?: string) => {
    const { databases, more } = await reachableDatabases({ control }, caller(scopes), prefix);
    return [databases.length, databases[0]?.database, databases.at(-1)?.database, more];
  };
  assertEquals(await told([]), [MOST, "d-000", "d-199", false]);
  await world.database(namespaceId, slugOf(MOST));
  assertEquals(await told([]), [MOST, "d-000", "d-199", true]);
  assertEquals(await told([], "d-2"), [1, "d-200", "d-200", false]);
  // A scope row for each, in any order; of one of them it has claimed a branch besides.
  const scopes: ScopeRow[] = made.toReversed().map(({ id: databaseId }) => {
    return { databaseId, branchRef: "main", role: "admin" };
  });
  assertEquals(await told(scopes), [MOST, "d-000", "d-199", false]);
  const [trunk] = made;
  const branch: BranchRecord = {
    ...{ id: "db_branch", namespaceId, trunkId: trunk?.id ?? "", ref: "mine", claimedBy: "tok_1" },
    ...{ purpose: "p", role: "write", createdAt: 0, copiedAt: 0, expiresAt: Infinity, tokenId: null },
  };
  const { branches } = control;
  branches.list = (_namespaceId, trunkId) => Promise.resolve(trunkId === trunk?.id ? [branch] : []);
  assertEquals(await told(scopes), [MOST, "d-000", "d-198", true]);
  assertEquals(await told(scopes, "d-000"), [2, "d-000", "d-000@mine", false]);
});
