// A batch that begins with PRAGMA foreign_keys = OFF cascades nothing: rules, log and bounds see it so, and only it.
import { assertEquals, assertStringIncludes } from "@std/assert";
import { NO_SNAPSHOT } from "../testing/call_api.ts";
import { withWrites } from "./write_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("foreign keys off", run);

const schema = [
  "CREATE TABLE parents (id INTEGER PRIMARY KEY)",
  "CREATE TABLE children (id INTEGER PRIMARY KEY, parent REFERENCES parents(id) ON DELETE CASCADE)",
  "INSERT INTO parents VALUES (1), (2), (3)",
  "INSERT INTO children VALUES (1, 1), (2, 2), (3, 3)",
];
const DELETE = "DELETE FROM parents WHERE id = ?";

test("without foreign keys a batch is not judged by cascades that do not happen, and the next one is again", async () => {
  await withWrites(async ({ rows, rule, setup, shop }) => {
    await setup(...schema);
    await rule({ tableGlob: "children", effect: "deny" });
    const denied = async () => {
      const answer = await shop.query(DELETE, [2]);
      assertEquals([answer.status, answer.body.code], [403, "rule_denied"], answer.text);
    };
    const without = async (id: number) => {
      const answer = await shop.batch([["PRAGMA foreign_keys = OFF"], [DELETE, id]]);
      assertEquals([answer.status, answer.body.meta?.rowsWritten], [200, 1], answer.text);
    };
    await without(1);
    await denied();
    await without(3);
    await denied();
    assertEquals(await rows("SELECT id FROM parents"), [[2]]);
    assertEquals(await rows("SELECT count(*) FROM children"), [[3]]);
    const tables = await rows("SELECT tables FROM _service_meta_audit ORDER BY id DESC LIMIT 1");
    assertEquals(tables, [['["parents"]']]);
  });
});

test("without foreign keys a batch that changes the schema too is judged likewise", async () => {
  await withWrites(async ({ rows, rule, setup, shop }) => {
    await setup(...schema);
    await rule({ tableGlob: "children", actions: ["delete"], effect: "deny" });
    const changed = await shop.batch([["PRAGMA foreign_keys = OFF"], ["CREATE TABLE kept (a)"], [DELETE, 1]]);
    assertEquals(changed.status, 200, changed.text);
    const enforced = await shop.batch([["CREATE TABLE other (a)"], [DELETE, 2]]);
    assertEquals([enforced.status, enforced.body.code], [403, "rule_denied"], enforced.text);
    assertEquals(await rows("SELECT count(*) FROM children"), [[3]]);
  });
});

test("a batch that rebuilds a table keeps the rows that refer to it, or does not run", async () => {
  await withWrites(async ({ rows, setup, shop }) => {
    await setup(...schema, "CREATE TABLE alone (a)");
    const rebuild = (table: string) =>
      [
        [`CREATE TABLE copy (id INTEGER PRIMARY KEY, more)`],
        [`INSERT INTO copy (id) SELECT rowid FROM ${table}`],
        [`DROP TABLE ${table}`],
        [`ALTER TABLE copy RENAME TO "${table.toUpperCase()}"`],
      ] as const;
    for (const transaction of [true, false]) {
      const answer = await shop.batch(rebuild("parents"), { transaction });
      assertEquals([answer.status, answer.body.code], [400, "migration_loses_rows"], answer.text);
      assertEquals(answer.body.failedIndex, 2, answer.text);
      assertStringIncludes(answer.body.error ?? "", "would delete or change rows of children");
    }
    assertEquals(await rows("SELECT count(*) FROM children"), [[3]]);
    const kept = await shop.batch([["PRAGMA foreign_keys=OFF"], ...rebuild("parents")]);
    assertEquals(kept.status, 200, kept.text);
    assertEquals(await rows("SELECT count(*), (SELECT count(more) FROM parents) FROM children"), [[3, 0]]);
    const nobody = await shop.batch(rebuild("alone"));
    assertEquals(nobody.status, 200, nobody.text);
    // Who drops a table and does not bring it back means what foreign keys say.
    const dropped = await shop.batch([["DROP TABLE parents"], ["CREATE TABLE copy (a)"]]);
    assertEquals(dropped.status, 200, dropped.text);
    assertEquals(await rows("SELECT count(*) FROM children"), [[0]]);
  });
});

test("a batch that puts a table aside and makes another of its name keeps the rows that refer to it, or does not run", async () => {
  await withWrites(async ({ rows, setup, shop }) => {
    await setup(...schema, "CREATE TABLE alone (a)");
    const made = [
      ["CREATE TABLE parents (id INTEGER PRIMARY KEY, more)"],
      ["INSERT INTO parents (id) SELECT id FROM older"],
    ] as const;
    const aside = [
      ["ALTER TABLE parents RENAME TO old"],
      ["ALTER TABLE Old RENAME TO older"],
      ...made,
      ["DROP TABLE OLDER"],
    ] as const;
    const swapped = [
      ["CREATE TABLE copy AS SELECT * FROM parents"],
      ["ALTER TABLE parents RENAME TO old"],
      ["ALTER TABLE copy RENAME TO Parents"],
      ["DROP TABLE old"],
    ] as const;
    for (const [rebuild, failedIndex] of [[aside, 4], [swapped, 3]] as const) {
      for (const transaction of [true, false]) {
        const answer = await shop.batch(rebuild, { transaction });
        assertEquals([answer.status, answer.body.code], [400, "migration_loses_rows"], answer.text);
        assertEquals(answer.body.failedIndex, failedIndex, answer.text);
        assertStringIncludes(answer.body.error ?? "", 'Fill a new table under another name, drop "parents"');
      }
    }
    assertEquals(await rows("SELECT count(*) FROM children"), [[3]]);
    const nobody = await shop.batch([
      ["ALTER TABLE alone RENAME TO old"],
      ["CREATE TABLE alone (a, b)"],
      ["DROP TABLE old"],
    ]);
    assertEquals(nobody.status, 200, nobody.text);
    // Who drops a table under another name and makes none of its first one means what foreign keys say.
    const dropped = await shop.batch([["ALTER TABLE parents RENAME TO old"], ["DROP TABLE old"]]);
    assertEquals(dropped.status, 200, dropped.text);
    assertEquals(await rows("SELECT count(*) FROM children"), [[0]]);
  });
});

test("without foreign keys a table that others refer to is not put aside, because they would refer to no table", async () => {
  await withWrites(async ({ rows, setup, shop }) => {
    await setup(
      ...schema,
      "DELETE FROM children",
      'CREATE TABLE "Trees" (id INTEGER PRIMARY KEY, up REFERENCES trees)',
    );
    const OFF = ["PRAGMA foreign_keys=OFF"] as const;
    const rebuild = [
      ["ALTER TABLE Parents RENAME TO old"],
      ["CREATE TABLE parents (id INTEGER PRIMARY KEY, more)"],
      ["INSERT INTO parents (id) SELECT id FROM old"],
      ["DROP TABLE Old"],
    ] as const;
    const refused = await shop.batch([OFF, ...rebuild]);
    assertEquals([refused.status, refused.body.code], [400, "migration_loses_rows"], refused.text);
    assertEquals(refused.body.failedIndex, 4, refused.text);
    assertStringIncludes(
      refused.body.error ?? "",
      'Fill a new table under another name, drop "parents" and give the new one its name; ' +
        "put aside first, it takes along what refers to it, and its DROP TABLE would leave children with references to no table",
    );
    const copied = await shop.batch([
      OFF,
      ["CREATE TABLE copy (id INTEGER PRIMARY KEY, more)"],
      ["INSERT INTO copy (id) SELECT id FROM parents"],
      ["DROP TABLE parents"],
      ["ALTER TABLE copy RENAME TO parents"],
    ]);
    assertEquals(copied.status, 200, copied.text);
    // Who rebuilds what refers to it too, or refers to nobody but itself, is let pass.
    const both = await shop.batch([
      OFF,
      ...rebuild,
      ["ALTER TABLE children RENAME TO older"],
      ["CREATE TABLE children (id INTEGER PRIMARY KEY, parent REFERENCES parents(id))"],
      ["DROP TABLE older"],
    ]);
    assertEquals(both.status, 200, both.text);
    const self = await shop.batch([
      OFF,
      ["ALTER TABLE trees RENAME TO old"],
      ["CREATE TABLE trees (id INTEGER PRIMARY KEY, up REFERENCES trees)"],
      ["DROP TABLE old"],
    ]);
    assertEquals(self.status, 200, self.text);
    const used = await shop.batch([["INSERT INTO children VALUES (1, 3)"], [
      "INSERT INTO trees VALUES (1, 1)",
    ]]);
    assertEquals(used.status, 200, used.text);
    assertEquals(await rows("SELECT parent FROM children"), [[3]]);
  });
});

test("a batch without foreign keys cascades nothing beside other calls, and those do", async () => {
  await withWrites(async ({ rows, setup, shop }) => {
    await setup(...schema, "CREATE TABLE many (x)");
    // What comes while this one runs waits, and then goes together.
    const slow = shop.query(
      "INSERT INTO many WITH RECURSIVE s(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < 300000) SELECT x FROM s",
    );
    const answers = await Promise.all([
      slow,
      shop.batch([["PRAGMA foreign_keys = OFF"], [DELETE, 1]], { headers: NO_SNAPSHOT }),
      shop.query(DELETE, [2], { headers: NO_SNAPSHOT }),
    ]);
    assertEquals(answers.map(({ status }) => status), [200, 200, 200]);
    assertEquals(await rows("SELECT id FROM children"), [[1], [3]]);
  });
});
