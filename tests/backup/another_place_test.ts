// An operator names another place for the archive: everything goes there, also what nobody writes, and nothing goes on from
// objects that are not there.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { rowsOf } from "../testing/test_namespace.ts";
import { backupWorld, dataOf, scheduledBackups } from "./backup_world.ts";

Deno.test("with another ARCHIVE_URL every database is archived there from the beginning, and a machine comes back from it", async () => {
  const places = await Deno.makeTempDir({ prefix: "cubby_archive_" });
  const at = (place: string) => ({ ARCHIVE_URL: `file:${places}/${place}` });
  await using world = await backupWorld(at("first"));
  try {
    let token: string;
    let path: string;
    let idle: string;
    {
      await using app = await world.start();
      const acme = await app.namespace();
      ({ token, database: { path } } = acme);
      ({ path: idle } = await acme.createDatabase("idle"));
      await acme.setup("CREATE TABLE t (a)", "INSERT INTO t VALUES (1)");
      const made = { token, body: { sql: "CREATE TABLE t AS SELECT 1 AS a" } };
      dataOf(await app.request("POST", `${idle}/query`, made));
    }
    {
      await using app = await world.start({ settings: at("second") });
      dataOf(
        await app.request("POST", `${path}/query`, { token, body: { sql: "INSERT INTO t VALUES (2)" } }),
      );
      // The moment is there at once, which needs a base.
      const now = new Date(app.deps.clock.now()).toISOString();
      dataOf(await app.request("POST", `${path}/restore`, { token, body: { at: now, into: "moment" } }));
      await scheduledBackups(app).take();
    }
    const verified = await world.command(["verify", "archive"], at("second"));
    assertMatch(verified.text, /Archive: compared\nAll is well$/);
    {
      // Back again: there a gap is told, and what was there before stays.
      await using app = await world.start({ settings: at("first") });
      const now = new Date(app.deps.clock.now()).toISOString();
      dataOf(await app.request("POST", `${path}/restore`, { token, body: { at: now, into: "again" } }));
    }
    await Deno.remove(world.dataDir, { recursive: true });
    const restored = await world.command(["restore", "archive"], at("second"));
    assertEquals(restored.code, 0, restored.text);
    assert(restored.text.includes("Database acme/idle is there\n"), restored.text);
    await using app = await world.start({ settings: { ...at("second"), ARCHIVE_TAKE_OVER: "1" } });
    const ask = (database: string) =>
      app.request("POST", `${database}/query`, { token, body: { sql: "SELECT a FROM t" } });
    assertEquals([rowsOf(await ask(path)), rowsOf(await ask(idle))], [[[1], [2]], [[1]]]);
  } finally {
    await Deno.remove(places, { recursive: true });
  }
});
