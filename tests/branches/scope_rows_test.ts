// Scope rows that name a branch by the database it is of, as the specification has them, or by its own id.
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { ScopeRow } from "../../lib/store/records.ts";
import { withBranches } from "./branch_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("scope rows that name a branch by the database it is of", run);

test("a scope row names a branch by its database and ref, and reaches that copy of it and nothing else", async () => {
  await withBranches(async ({ app, shop, claim, call }) => {
    const branch = await claim();
    const scopes: ScopeRow[] = [{ databaseId: shop.database.id, branchRef: branch.ref, role: "write" }];
    const { token } = await shop.mint("admin", { scopes });
    const me = await app.request("GET", "/v1/me", { token });
    assertEquals(me.body.data && Reflect.get(me.body.data, "scopes"), [
      { databaseId: branch.databaseId, branchRef: branch.ref, role: "write" },
    ]);
    const write = (path: string) =>
      app.request("POST", `${path}/query`, { token, body: { sql: "INSERT INTO items (name) VALUES ('x')" } });
    assertEquals((await write(`${shop.database.path}@${branch.ref}`)).status, 200);
    assertEquals((await write(shop.database.path)).status, 200, "under the plain slug too");
    assertEquals((await shop.query("SELECT count(*) FROM items")).text.includes("[[3]]"), true);
    const alter = await app.request("POST", `${shop.database.path}/query`, {
      token,
      body: { sql: "CREATE TABLE n (a)" },
    });
    assertEquals([alter.status, alter.body.code], [403, "role_too_low"]);
    const second = await claim({ ref: "pr-2" });
    assertEquals((await write(`${shop.database.path}@${second.ref}`)).body.code, "out_of_scope");
    // Like a token of a claim, it ends with the copy.
    assertEquals((await call("POST", `branches/${branch.ref}/reset`)).status, 200);
    assertEquals((await write(`${shop.database.path}@${branch.ref}`)).body.code, "out_of_scope");
    assertEquals((await shop.query("SELECT count(*) FROM items")).text.includes("[[3]]"), true);
  });
});

test("a scope row for a branch that is not there says what to send", async () => {
  await withBranches(async ({ app, shop, claim }) => {
    const { databaseId, ref } = await claim();
    const other = await shop.createDatabase("other");
    for (
      const [id, branchRef, path, hint] of [
        [shop.database.id, "nope", "scopes[0].branchRef", "main for the trunk"],
        [shop.database.id, "", "scopes[0].branchRef", "main for the trunk"],
        [other.id, ref, "scopes[0].branchRef", "main for the trunk"],
        [databaseId, "main", "scopes[0].branchRef", ref],
        ["db_none", ref, "scopes[0].databaseId", "a database of this namespace"],
      ] as const
    ) {
      const answer = await app.request("POST", "/api/namespaces/acme/tokens", {
        token: shop.token,
        body: { name: "x", role: "read", scopes: [{ databaseId: id, branchRef, role: "read" }] },
      });
      const [issue] = answer.body.issues ?? [];
      assertEquals([answer.status, issue?.path], [400, path], answer.text);
      assertStringIncludes(issue?.message ?? "", hint);
    }
  });
});
