// A machine that is lost, and made anew from a bucket; what is wrong with the bucket is told in one line and brings nothing.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { rowsOf } from "../testing/test_namespace.ts";
import { S3_KEYS, startS3 } from "../testing/s3_server.ts";
import { type BackupWorld, backupWorld, scheduledBackups } from "./backup_world.ts";

const NO_BACKUP = "Not done: Choose another moment or archive; no whole backup of the control plane is there";
const NO_ANSWER = "Not done: Look at ARCHIVE_URL and its keys; the archive refuses them or does not answer";

/** A restore on a new machine: the exit code, what it said, and whether anything stands there. */
async function onNewMachine({ command, dataDir }: BackupWorld, settings: Readonly<Record<string, string>>) {
  const { code, text } = await command(["restore", "archive"], settings);
  return [code, text, await Deno.stat(dataDir).then(() => "there", () => "nothing")];
}

Deno.test("a machine that is lost is made anew from a bucket alone, and a bucket that is not good brings nothing", async () => {
  const s3 = startS3();
  const urlOf = (prefix: string) => `s3://shop/${prefix}?endpoint=${s3.endpoint}&region=eu-central-1`;
  await using world = await backupWorld({
    ARCHIVE_URL: urlOf("cubby"),
    ARCHIVE_ACCESS_KEY_ID: S3_KEYS.accessKeyId,
    ARCHIVE_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey,
  });
  try {
    let token: string;
    let path: string;
    let second: string;
    {
      await using app = await world.start();
      const acme = await app.namespace();
      ({ token, database: { path } } = acme);
      second = (await acme.createDatabase("second")).id;
      await acme.setup("CREATE TABLE t (a)", "INSERT INTO t VALUES (1), (2), (3)");
      await scheduledBackups(app).take();
    }
    await Deno.remove(world.dataDir, { recursive: true });

    // Nothing is there; somebody else's databases are, without a control plane; the key is a wrong one; nobody answers.
    assertEquals(await onNewMachine(world, { ARCHIVE_URL: urlOf("empty") }), [1, NO_BACKUP, "nothing"]);
    const other = [...s3.objects].filter(([key]) => key.startsWith("shop/cubby/db/"));
    for (const [key, bytes] of other) s3.objects.set(key.replace("/cubby/", "/other/"), bytes);
    assertEquals(await onNewMachine(world, { ARCHIVE_URL: urlOf("other") }), [1, NO_BACKUP, "nothing"]);
    const wrongKey = { ARCHIVE_SECRET_ACCESS_KEY: "wrong" };
    assertEquals(await onNewMachine(world, wrongKey), [1, NO_ANSWER, "nothing"]);
    s3.away = (method, key) => method === "GET" && key.includes("/db/");
    assertEquals((await onNewMachine(world, {})).slice(0, 1), [1]);
    s3.away = () => false;

    // Of a database that is damaged there, no part: it is named, and the others come.
    const found = [...s3.objects].find(([key]) => key.includes(`/${second}/`) && key.includes("/base-"));
    assert(found !== undefined);
    const [key, bytes] = found;
    const altered = bytes.slice();
    altered[bytes.length >> 1] = (altered[bytes.length >> 1] ?? 0) ^ 1;
    s3.objects.set(key, altered);
    const partly = await world.command(["restore", "archive", "--replace"]);
    assertEquals(partly.code, 1, partly.text);
    assert(partly.text.includes("Database acme/main is there\n"), partly.text);
    assert(partly.text.includes(`wrong: database acme/second (${second}): `), partly.text);
    const wrong = await world.command(["verify", "archive"]);
    assertMatch(wrong.text, /wrong: acme\/second: its file is missing [^\n]*\nOne thing is wrong$/);

    s3.objects.set(key, bytes);
    const restored = await world.command(["restore", "archive", "--replace"]);
    assertEquals(restored.code, 0, restored.text);
    const verified = await world.command(["verify", "archive"]);
    assertMatch(verified.text, /Archive: compared\nAll is well$/);
    await using app = await world.start({ settings: { ARCHIVE_TAKE_OVER: "1" } });
    const ask = (sql: string) => app.request("POST", `${path}/query`, { token, body: { sql } });
    assertEquals(rowsOf(await ask("SELECT count(*) FROM t")), [[3]]);
    assertEquals((await ask("INSERT INTO t VALUES (4)")).status, 200);
  } finally {
    await s3.close();
  }
});
