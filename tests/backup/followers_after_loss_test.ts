// Who followed a database of a machine that is lost hears that another state is there, although its numbers come again.
import { assertEquals } from "@std/assert";
import { backupWorld, scheduledBackups } from "./backup_world.ts";

Deno.test("followers start over when the archive lacks the last changes of a machine that is lost", async () => {
  const archive = await Deno.makeTempDir({ prefix: "cubby_archive_" });
  await using world = await backupWorld({ ARCHIVE_URL: `file:${archive}` });
  try {
    let token: string;
    let path: string;
    {
      await using app = await world.start();
      const acme = await app.namespace();
      ({ token, database: { path } } = acme);
      await acme.setup("CREATE TABLE t (a)", "INSERT INTO t VALUES ('archived')");
      await scheduledBackups(app).take();
    }
    const ask = async (app: Awaited<ReturnType<typeof world.start>>, way: string, sql?: string) => {
      const body = sql === undefined ? {} : { body: { sql } };
      const answer = await app.request(sql === undefined ? "GET" : "POST", path + way, { token, ...body });
      assertEquals(answer.status, 200, answer.text);
      return JSON.parse(answer.text);
    };
    let cursor: string;
    {
      // What is written now reaches no archive.
      await using app = await world.start({ settings: { ARCHIVE_URL: "" } });
      for (let row = 0; row < 3; row++) await ask(app, "/query", "INSERT INTO t VALUES ('lost')");
      cursor = (await ask(app, "/changes")).meta.cursor;
    }
    await Deno.remove(world.dataDir, { recursive: true });
    const restored = await world.command(["restore", "archive"]);
    assertEquals(restored.code, 0, restored.text);
    await using app = await world.start({ settings: { ARCHIVE_TAKE_OVER: "1" } });
    for (let row = 0; row < 4; row++) await ask(app, "/query", "INSERT INTO t VALUES ('new')");
    const { data } = await ask(app, `/changes?since=${cursor}`);
    const told = data.map((
      { kinds, tables }: { kinds: string[]; tables: string[] },
    ) => [kinds.join(), tables.join()]);
    assertEquals(told, [["reset", ""], ["restore", "t"], ...Array(4).fill(["insert", "t"])]);
  } finally {
    await Deno.remove(archive, { recursive: true });
  }
});
