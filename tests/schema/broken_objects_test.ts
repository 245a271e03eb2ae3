// Objects that cannot be used because what they are made of is gone: every list names them with the reason and goes on.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { databasePath } from "../../lib/tenant/local/files/tenant_paths.ts";
import { oneStore } from "../testing/cases.ts";
import { withWrites, type WriteWorld } from "../writes/write_world.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { examine, follow } from "./doctor_findings.ts";

const { run, test } = oneStore();
Deno.test("broken objects", run);

const SETUP = [
  "CREATE TABLE sound (id INTEGER PRIMARY KEY, name TEXT, seen INTEGER)",
  "INSERT INTO sound VALUES (1, 'x', 'never'), (2, 'y', 5)",
  "CREATE TABLE docs (id INTEGER PRIMARY KEY, body TEXT)",
  "CREATE VIRTUAL TABLE found USING fts5(body, content='docs', content_rowid='id')",
  "CREATE VIRTUAL TABLE whole USING fts5(body)",
  "CREATE VIEW shown AS SELECT body FROM docs",
  "CREATE TRIGGER noted AFTER INSERT ON sound BEGIN INSERT INTO docs (body) VALUES (new.name); END",
  "CREATE TABLE summed (a INTEGER)",
  "INSERT INTO summed VALUES (-9223372036854775807 - 1)",
  "ALTER TABLE summed ADD COLUMN b INTEGER AS (abs(a))",
  "DROP TABLE docs",
] as const;

type Named = Readonly<Record<string, unknown>>;

async function data(world: WriteWorld, path: string): Promise<unknown> {
  const answer = await world.app.request("GET", `${world.shop.database.path}/${path}`, {
    token: world.shop.token,
  });
  assertEquals(answer.status, 200, `${path}: ${answer.text}`);
  return answer.body.data;
}

test("tables, describe and search name what cannot be read with the reason, and show all else", async () => {
  await withWrites(async (world) => {
    await world.setup(...SETUP);
    const tables = await data(world, "tables") as Named[];
    assertEquals(tables.map(({ name, rowCount }) => [name, rowCount]), [
      ["found", null],
      ["sound", 2],
      ["summed", 1],
      ["whole", 0],
    ]);
    assertEquals(tables.map(({ error }) => error), [
      "no such table: main.docs",
      undefined,
      undefined,
      undefined,
    ]);
    const described = (await data(world, "describe") as { tables: Named[] }).tables;
    assertEquals(described.map(({ table, error }) => [table, error ?? null]), [
      ["found", "no such table: main.docs"],
      ["sound", null],
      ["summed", null],
      ["whole", null],
    ]);
    const hits = (await data(world, "search?q=found") as { hits: Named[] }).hits;
    assertEquals([hits[0]?.["table"], hits[0]?.["error"]], ["found", "no such table: main.docs"]);
    const other = (await data(world, "search?q=sound") as { hits: Named[] }).hits;
    assertEquals([other[0]?.["table"], other[0] && "error" in other[0]], ["sound", false]);
  });
});

test("doctor finds what cannot be used, says what silences it, and still looks at the rows of all else", async () => {
  await withWrites(async ({ app, shop, setup }) => {
    await setup(...SETUP);
    const { findings } = await examine(app, shop);
    const broken = findings.filter(({ code }) => code === "broken_object");
    assertEquals(broken.map(({ severity, table, suggestion }) => [severity, table, suggestion]).sort(), [
      ["error", "found", 'DROP TABLE "found"'],
      ["error", "shown", 'DROP VIEW "shown"'],
      ["error", "sound", 'DROP TRIGGER "noted"'],
    ]);
    for (const { message } of broken) assertStringIncludes(message, "no such table: main.docs");
    assert(
      findings.some(({ code, table, column }) =>
        code === "integer_text_mix" && `${table}.${column}` === "sound.seen"
      ),
    );
    for (const finding of broken) await follow(app, shop, finding);
    assertEquals((await examine(app, shop)).findings.filter(({ code }) => code === "broken_object"), []);
  });
});

test("lists of endpoints, branches and databases go on beside what cannot be used", async () => {
  await withWrites(async ({ app, post, setup, shop }) => {
    await setup(...SETUP.slice(0, -1));
    const base = `/api/namespaces/${shop.slug}/databases/main/endpoints`;
    for (const [slug, sql] of [["lost", "SELECT body FROM shown"], ["kept", "SELECT id FROM sound"]]) {
      const spec = { slug, name: slug, kind: "query", method: "GET", output: "rows", sql, input: [] };
      assertEquals((await app.request("POST", base, { token: shop.token, body: spec })).status, 201);
      await app.request("POST", `${base}/${slug}/publish`, { token: shop.token });
    }
    assertEquals((await post("claim_branch", { purpose: "x", ref: "b" })).status, 201);
    await setup(SETUP.at(-1) ?? "");
    for (
      const path of [
        `/p/${shop.slug}/main/.well-known/endpoints.json`,
        `/p/${shop.slug}/main/openapi.json`,
        base,
        `/api/namespaces/${shop.slug}/databases`,
        `${shop.database.path}/branches`,
        `${shop.database.path}/branches/b/diff`,
        `${shop.database.path}/doctor`,
      ]
    ) {
      const answer = await app.request("GET", path, { token: shop.token });
      assertEquals(answer.status, 200, `${path}: ${answer.text}`);
    }
    const found = await app.request("GET", `/p/${shop.slug}/main/.well-known/endpoints.json`);
    assertStringIncludes(found.text, '"slug":"lost"');
    assertStringIncludes(found.text, '"slug":"kept"');
  });
});

test("a table whose module or parts are gone, and a damaged one, hide no other", async () => {
  if (!isEmbedded()) return; // sqld's files are its own
  const folder = await Deno.makeTempDir({ prefix: "cubby_broken_" });
  try {
    await withWrites(async (world) => {
      await world.setup(...SETUP, "CREATE TABLE hurt (a)", "CREATE INDEX hurt_a ON hurt (a)");
      const path = databasePath(`${folder}/tenants`, world.shop.database.id);
      using database = new DatabaseSync(path, { defensive: false });
      database.exec("DROP TABLE whole_config; PRAGMA writable_schema = ON");
      database.exec(
        "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('table', 'alien', 'alien', 0, " +
          "'CREATE VIRTUAL TABLE alien USING nosuch(a)')",
      );
      // Each of the two b-trees where the other is looked for.
      database.exec(
        "UPDATE sqlite_schema SET rootpage = (SELECT sum(rootpage) FROM sqlite_schema WHERE name IN ('hurt', 'hurt_a')) " +
          "- rootpage WHERE name IN ('hurt', 'hurt_a'); PRAGMA schema_version = 900",
      );
      const tables = await data(world, "tables") as Named[];
      assertEquals(tables.map(({ name, rowCount }) => [name, rowCount]), [
        ["alien", null],
        ["found", null],
        ["hurt", null],
        ["sound", 2],
        ["summed", 1],
        ["whole", null],
      ]);
      for (const { rowCount, error } of tables) assertEquals(rowCount === null, typeof error === "string");
      const described = (await data(world, "describe") as { tables: Named[] }).tables;
      assertEquals(described.map(({ table, error }) => [table, error !== undefined]), [
        ...[["alien", true], ["found", true], ["hurt", false], ["sound", false], ["summed", false], [
          "whole",
          true,
        ]],
      ]);
      assertEquals((await data(world, "search?q=sound") as { hits: Named[] }).hits[0]?.["table"], "sound");
      const { findings } = await examine(world.app, world.shop);
      const broken = findings.filter(({ code }) => code === "broken_object").map(({ table }) => table);
      assertEquals(broken.sort(), ["alien", "found", "shown", "sound", "whole"]);
    }, { settings: { DATA_DIR: folder } });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
