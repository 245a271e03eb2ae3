// Two-step writes: what propose shows is what apply does, once, for whoever proposed it.
import { assert, assertEquals } from "@std/assert";
import { oneStore } from "../testing/cases.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { member, rowsOf, type TestNamespace } from "../testing/test_namespace.ts";

const { run, test } = oneStore();
Deno.test("propose", run);

async function withShop(body: (shop: TestNamespace, app: StartedApp) => Promise<void>): Promise<void> {
  await using app = await startApp();
  const shop = await app.namespace();
  await shop.batch([
    ["CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT UNIQUE, stock INTEGER)"],
    ["CREATE TABLE parts (item INTEGER REFERENCES items(id) ON DELETE CASCADE, part TEXT)"],
    ["INSERT INTO items VALUES (1, 'pen', 5), (2, 'ink', 6), (3, 'cap', 7)"],
    ["INSERT INTO parts VALUES (1, 'nib'), (1, 'tube'), (2, 'glass')"],
  ]);
  await body(shop, app);
}

function post(app: StartedApp, shop: TestNamespace, operation: string, body: unknown, token = shop.token) {
  return app.request("POST", `${shop.database.path}/${operation}`, { token, body });
}

test("propose shows the exact effect with rows before and after, and changes nothing", async () => {
  await withShop(async (shop, app) => {
    const answer = await post(app, shop, "propose", {
      sql: "UPDATE items SET stock = stock + ? WHERE id < 3",
      params: [10],
    });
    assertEquals(answer.status, 200, answer.text);
    const data = JSON.parse(answer.text).data;
    assertEquals([data.estimatedAffectedRows, data.cascadedRows, data.action], [2, 0, "write"]);
    assertEquals(data.preview, {
      table: "items",
      columns: ["id", "name", "stock"],
      keys: ["id"],
      before: [[1, "pen", 5], [2, "ink", 6]],
      after: [[1, "pen", 15], [2, "ink", 16]],
    });
    assert(data.plan.length > 0 && data.executionToken.startsWith("pmut_"));
    assertEquals(rowsOf(await shop.query("SELECT sum(stock) FROM items")), [[18]]);
  });
});

test("cascades count beside the statement's own rows", async () => {
  await withShop(async (shop, app) => {
    const answer = await post(app, shop, "propose", {
      sql: "DELETE FROM items WHERE id = 1 RETURNING name;",
    });
    const data = JSON.parse(answer.text).data;
    assertEquals([data.estimatedAffectedRows, data.cascadedRows], [1, 2]);
    assertEquals([data.preview.before, data.preview.after], [[[1, "pen", 5]], []]);
  });
});

test("an error that the write would raise is raised now, and a read is refused", async () => {
  await withShop(async (shop, app) => {
    const clash = await post(app, shop, "propose", { sql: "UPDATE items SET name = 'ink' WHERE id = 1" });
    assertEquals([clash.status, clash.body.errorDetail?.kind], [400, "unique_violation"]);
    const read = await post(app, shop, "propose", { sql: "SELECT 1" });
    assertEquals([read.status, read.body.code], [400, "validation_failed"]);
    const reader = await shop.mint("read");
    const refused = await post(app, shop, "propose", { sql: "DELETE FROM items" }, reader.token);
    assertEquals([refused.status, refused.body.code], [403, "role_too_low"]);
  });
});

test("apply runs it once; another bearer gets 403 and leaves the token good", async () => {
  await withShop(async (shop, app) => {
    const proposed = await post(app, shop, "propose", { sql: "DELETE FROM items WHERE id = 3" });
    const executionToken = member(proposed, "executionToken");
    const other = await shop.mint("admin");
    const foreign = await post(app, shop, "apply", { executionToken }, other.token);
    assertEquals([foreign.status, foreign.body.code], [403, "not_yours"]);
    const applied = await post(app, shop, "apply", { executionToken });
    assertEquals([applied.status, applied.body.meta?.rowsWritten], [200, 1]);
    const again = await post(app, shop, "apply", { executionToken });
    assertEquals([again.status, again.body.code], [404, "execution_not_found"]);
    assertEquals(rowsOf(await shop.query("SELECT count(*) FROM items")), [[2]]);
  });
});

test("of many who apply one token at once exactly one writes", async () => {
  await withShop(async (shop, app) => {
    const proposed = await post(app, shop, "propose", { sql: "INSERT INTO parts VALUES (2, 'once')" });
    const executionToken = member(proposed, "executionToken");
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => post(app, shop, "apply", { executionToken })),
    );
    assertEquals(answers.filter(({ status }) => status === 200).length, 1);
    assertEquals(rowsOf(await shop.query("SELECT count(*) FROM parts WHERE part = 'once'")), [[1]]);
  });
});

test("X-Dry-Run shows what propose shows, without a token, for a query and for a batch", async () => {
  await withShop(async (shop) => {
    const headers = { "x-dry-run": "1" };
    const one = await shop.query("DELETE FROM items", [], { headers });
    const data = JSON.parse(one.text).data;
    assertEquals([one.status, data.estimatedAffectedRows, data.executionToken], [200, 3, undefined]);
    const batch = await shop.batch([["DELETE FROM items WHERE id = 1"], ["DELETE FROM items"]], { headers });
    assertEquals(
      JSON.parse(batch.text).data.map((shown: { estimatedAffectedRows: number }) =>
        shown.estimatedAffectedRows
      ),
      [1, 2],
    );
    assertEquals(rowsOf(await shop.query("SELECT count(*) FROM items")), [[3]]);
    assertEquals(
      (await shop.query("DELETE FROM items", [], { headers: { "x-dry-run": "true" } })).status,
      400,
    );
  });
});

test("X-Max-Affected undoes what changes more rows, triggers and cascades included", async () => {
  await withShop(async (shop) => {
    const bounded = (n: string) => ({ headers: { "x-max-affected": n } });
    const refused = await shop.query("DELETE FROM items WHERE id = 1", [], bounded("2"));
    assertEquals([refused.status, refused.body.code], [400, "too_many_affected"]);
    assertEquals(JSON.parse(refused.text).affected, 3);
    assertEquals(rowsOf(await shop.query("SELECT count(*) FROM items")), [[3]]);
    assertEquals((await shop.query("DELETE FROM items WHERE id = 1", [], bounded("3"))).status, 200);
    assertEquals((await shop.query("SELECT 1", [], bounded("many"))).status, 400);
  });
});
