// Rules that whoever may rename a table gets around say so, in their answer and in doctor; a rename counts under both names.
import { assertEquals, assertStringIncludes } from "@std/assert";
import { examine, follow } from "../schema/doctor_findings.ts";
import { withWrites, type WriteWorld } from "./write_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("warnings of rules", run);

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY)";

async function added({ app, shop }: WriteWorld, settings: object): Promise<{ id: string; codes: string[] }> {
  const path = `/api/namespaces/${shop.slug}/databases/main/rules`;
  const answer = await app.request("POST", path, { token: shop.token, body: settings });
  assertEquals(answer.status, 201, answer.text);
  return read(answer.text);
}

function read(text: string): { id: string; codes: string[] } {
  const { data: { id, warnings } } = JSON.parse(text);
  return { id, codes: warnings.map(({ code }: { code: string }) => code) };
}

test("a rule about rows warns that an admin token can rename around it, until renames are stopped too", async () => {
  await withWrites(async (world) => {
    const { app, shop } = world;
    const codes = async (settings: object) => (await added(world, settings)).codes;
    assertEquals(await codes({ tableGlob: "t*", effect: "deny" }), []);
    assertEquals(await codes({ tableGlob: "*", actions: ["delete"], effect: "deny" }), []);
    assertEquals(await codes({ tableGlob: "a", actions: ["delete", "schema"], effect: "deny" }), []);
    assertEquals(await codes({ tableGlob: "b", actions: ["delete"], effect: "deny", enabled: false }), []);
    const { id, codes: own } = await added(world, { tableGlob: "b", actions: ["update"], effect: "deny" });
    assertEquals(own, ["renamed_around"]);
    const path = `/api/namespaces/${shop.slug}/databases/main/rules`;
    const change = async (body: object) =>
      read((await app.request("PATCH", `${path}/${id}`, { token: shop.token, body })).text).codes;
    assertEquals(await change({ note: "still" }), ["renamed_around"]);
    // Another rule that leaves renames alone does not close it.
    await added(world, { tableGlob: "b", actions: ["schema"], effect: "deny", unboundedOnly: true });
    assertEquals(await change({ note: "open" }), ["renamed_around"]);
    await added(world, { tableGlob: "B", actions: ["schema"], effect: "require_approval" });
    assertEquals(await change({ note: "closed" }), []);
    const listed = await app.request("GET", path, { token: shop.token });
    for (const { warnings } of JSON.parse(listed.text).data) assertEquals(warnings, []);
  });
});

test("doctor finds a rule that can be renamed around, and what it suggests closes it", async () => {
  await withWrites(async (world) => {
    const { app, shop, setup } = world;
    await setup(T);
    await added(world, { tableGlob: "t", actions: ["delete"], effect: "deny" });
    const [finding] = (await examine(app, shop)).findings.filter(({ code }) =>
      code === "rule_renamed_around"
    );
    if (!finding) throw new TypeError("nothing was found");
    assertEquals([finding.severity, finding.table], ["warning", "t"]);
    assertStringIncludes(finding.message, "rename");
    await follow(app, shop, finding);
    const renamed = await world.post("query", { sql: "ALTER TABLE t RENAME TO u" });
    assertEquals([renamed.status, renamed.body.code], [403, "rule_denied"], renamed.text);
  });
});

test("doctor finds a rule for a table that there is not, and what it suggests makes it hold", async () => {
  await withWrites(async (world) => {
    const { app, shop, setup } = world;
    await setup("CREATE TABLE invoices (id INTEGER PRIMARY KEY)", "INSERT INTO invoices VALUES (1)");
    const found = async () =>
      (await examine(app, shop)).findings.filter(({ code }) => code === "rule_without_table");
    for (const tableGlob of ["*", "INVOICE?", "invoices"]) {
      await added(world, { tableGlob, effect: "deny", minRows: 9 });
    }
    await added(world, { tableGlob: "w*", actions: ["schema"], effect: "deny" });
    assertEquals(await found(), []);
    await added(world, { tableGlob: "later_*", effect: "deny" });
    await added(world, { tableGlob: "invoce", effect: "deny" });
    const deleted = () => world.post("query", { sql: "DELETE FROM invoices WHERE id = 2" });
    assertEquals((await deleted()).status, 200);
    const findings = await found();
    assertEquals(findings.map(({ table, message }) => [table, message]), [
      [
        "later_*",
        "Correct the rule for later_*, which holds nothing: no table has that name; switch it off if it is not for a table to come",
      ],
      [
        "invoce",
        "Correct the rule for invoce, which holds nothing: no table has that name; did you mean invoices?",
      ],
    ]);
    for (const finding of findings) await follow(app, shop, finding);
    assertEquals(await found(), []);
    assertEquals((await deleted()).body.code, "rule_denied");
  });
});

test("a rename counts as a change of the schema under the old name and the new one", async () => {
  await withWrites(async (world) => {
    const { post, setup } = world;
    await setup(
      T,
      "CREATE TABLE other (a)",
      "CREATE VIRTUAL TABLE words USING fts5(x)",
      "CREATE VIEW v AS SELECT * FROM other",
    );
    await added(world, { tableGlob: "t", actions: ["schema"], effect: "deny" });
    await added(world, { tableGlob: "w*", actions: ["schema"], effect: "deny" });
    const stopped = [
      "ALTER TABLE t RENAME TO u",
      'ALTER TABLE main."T" RENAME TO u',
      'ALTER TABLE other RENAME TO "W"',
      "ALTER TABLE words RENAME TO other2",
      "ALTER TABLE t RENAME COLUMN id TO key",
      "DROP TABLE t",
      "CREATE VIEW w AS SELECT 1",
      "CREATE TABLE w2 AS SELECT * FROM other",
    ];
    for (const sql of stopped) {
      const answer = await post("query", { sql });
      assertEquals([answer.status, answer.body.code], [403, "rule_denied"], sql);
      const proposed = await post("propose", { sql });
      const batch = await post("batch", {
        statements: [{ sql: "CREATE TABLE z (a)" }, { sql }],
        transaction: true,
      });
      assertEquals([proposed.status, batch.body.code], [200, "rule_denied"], `${sql}: ${proposed.text}`);
    }
    await setup("ALTER TABLE other RENAME TO free", "ALTER TABLE free RENAME COLUMN a TO b");
  });
});
