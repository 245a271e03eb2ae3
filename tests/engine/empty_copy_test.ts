// The empty copy of a schema on which plans are asked for.
import type {} from "../../lib/engine/node_sqlite.d.ts";
import { DatabaseSync } from "node:sqlite";
import { assertEquals } from "@std/assert";
import { emptyCopy } from "../../lib/engine/rows_read/empty_copy.ts";

const OBJECTS = "SELECT name FROM sqlite_schema ORDER BY name";

function namesIn(database: DatabaseSync): unknown[] {
  return database.prepare(OBJECTS).all().map(({ name }) => name);
}

Deno.test("a copy has every table, index, view and trigger, and no rows", () => {
  using database = new DatabaseSync(":memory:");
  database.exec(
    "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a UNIQUE); CREATE INDEX i ON t (a, id); CREATE VIEW v AS SELECT a FROM t; " +
      "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t WHERE id < new.id; END; INSERT INTO t (a) VALUES (1); " +
      "CREATE VIRTUAL TABLE f USING fts5(a)",
  );
  using copy = emptyCopy(database);
  assertEquals(copy && namesIn(copy), namesIn(database));
  assertEquals(copy?.prepare("SELECT count(*) AS n FROM v").get()?.["n"], 0);
});

Deno.test("a text that goes on behind its table reaches no other file", async () => {
  const other = await Deno.makeTempFile({ suffix: ".db" });
  using database = new DatabaseSync(":memory:", { defensive: false });
  database.exec("CREATE TABLE t (a); PRAGMA writable_schema=ON");
  database.prepare("UPDATE sqlite_schema SET sql = sql || ?").run(
    `; ATTACH '${other}' AS other; CREATE TABLE other.taken (a)`,
  );
  emptyCopy(database)?.close();
  assertEquals((await Deno.stat(other)).size, 0);
  await Deno.remove(other);
});
