// Every way to write can be held, and the documentation of an approval names each of them.
import { assertEquals } from "@std/assert";
import { approvalDetail } from "../../routes/api/approval_schemas.ts";
import { heldBy, withWrites } from "./write_world.ts";

Deno.test("an approval says which operation waits, by a word that is documented", async () => {
  await withWrites(async ({ app, shop, post, propose, apply, rule, setup }) => {
    await setup("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)", "INSERT INTO t VALUES (1, 'one')");
    assertEquals((await post("snapshots", { label: "before" })).status, 201);
    assertEquals((await post("claim_branch", { purpose: "a test", ref: "pr-1" })).status, 201);
    const sql = (id: number) => ({ sql: `INSERT INTO t VALUES (${id}, 'more')` });
    const branch = { token: shop.token, body: sql(2) };
    assertEquals((await app.request("POST", `${shop.database.path}@pr-1/query`, branch)).status, 200);
    await setup("INSERT INTO t VALUES (3, 'three')");
    await rule({ tableGlob: "*", effect: "require_approval" });
    const { executionToken } = await propose(sql(4).sql);
    const held = {
      query: await post("query", sql(5)),
      batch: await post("batch", { statements: [sql(6)] }),
      apply: await apply(executionToken),
      merge: await post("branches/pr-1/merge", { mode: "data", onConflict: "theirs" }),
      restore: await post("restore", { snapshot: "before" }),
      migrate: await post("migrations", { files: [{ name: "0001.sql", sql: sql(7).sql }] }),
      import: await post("import?format=csv&mode=append&table=t", "id,a\n8,eight\n"),
    };
    const words = approvalDetail.shape.operation.options;
    assertEquals(Object.keys(held).toSorted(), words.toSorted());
    for (const [operation, answer] of Object.entries(held)) {
      const path = `/api/namespaces/${shop.slug}/approvals/${heldBy(answer).id}`;
      const shown = await app.request("GET", path, { token: app.operatorKey });
      assertEquals(JSON.parse(shown.text).data.operation, operation);
    }
  });
});
