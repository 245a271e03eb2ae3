// The control plane in the archive: a lost machine is made anew from there alone, and what is late is told.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { MINUTE_MS } from "../../lib/core/clock.ts";
import { pause } from "../../lib/core/pause.ts";
import { archiveBackup } from "../../lib/services/backup/archived_backups.ts";
import { ScheduledBackups } from "../../lib/services/backup/scheduled_backups.ts";
import { ArchiveFolder, archiveFolder } from "../../lib/tenant/archive/archive_state.ts";
import { databasePath, tenantPaths } from "../../lib/tenant/local/files/tenant_paths.ts";
import { FolderObjects } from "../../lib/tenant/archive/folder_objects.ts";
import { ReadinessCheck } from "../../lib/services/health/check_readiness.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { configFromEnvironment } from "../../lib/config.ts";
import { type BackupWorld, backupWorld, scheduledBackups } from "./backup_world.ts";

async function archivedWorld(): Promise<BackupWorld & { readonly objects: string }> {
  const objects = await Deno.makeTempDir({ prefix: "cubby_archive_" });
  const world = await backupWorld({ ARCHIVE_URL: `file:${objects}/store` });
  const close = async () => {
    await world[Symbol.asyncDispose]();
    await Deno.remove(objects, { recursive: true });
  };
  return { ...world, objects: `${objects}/store`, [Symbol.asyncDispose]: close };
}

async function backupKeys({ objects }: { readonly objects: string }): Promise<string[]> {
  return (await Array.fromAsync(new FolderObjects(objects).keys("kv/"))).sort();
}

Deno.test("a machine that is lost is made anew from the archive alone: control plane, databases, branches", async () => {
  await using world = await archivedWorld();
  let token: string;
  let path: string;
  {
    await using app = await world.start();
    const acme = await app.namespace();
    ({ token, database: { path } } = acme);
    await acme.createDatabase("second");
    await acme.setup("CREATE TABLE t (a)", "INSERT INTO t VALUES (1), (2), (3)");
    const claim = { token, body: { purpose: "a branch", ref: "pr-1" } };
    assertEquals((await app.request("POST", `${path}/claim_branch`, claim)).status, 201);
    const backups = scheduledBackups(app);
    await backups.take();
    const before = await backupKeys(world);
    // Nothing new, nothing taken.
    await backups.take();
    assertEquals(await backupKeys(world), before);
    await acme.mint("read");
    await backups.take();
    assertEquals((await backupKeys(world)).length, before.length * 2);
  }
  await Deno.remove(world.dataDir, { recursive: true });
  // Taken while a clock was wrong, and not the newest: bringing it would bring what is no backup.
  const later = new FolderObjects(world.objects);
  await Deno.writeTextFile(`${world.folder}/later`, "no backup");
  await archiveBackup(later, `${world.folder}/later`, Date.UTC(2090, 0, 1));
  const restored = await world.command(["restore", "archive"]);
  assertEquals(restored.code, 0, restored.text);
  for (const name of ["acme/main", "acme/main@pr-1", "acme/second"]) {
    assert(restored.text.includes(`Database ${name} is there`), restored.text);
  }
  const verified = await world.command(["verify", "archive"]);
  assertMatch(verified.text, /Files: compared with [^]*Archive: compared\nAll is well$/);

  // Another installation has to say that it goes on with the archive.
  await using app = await world.start({ settings: { ARCHIVE_TAKE_OVER: "1" } });
  const ask = (of: string, sql: string) => app.request("POST", `${of}/query`, { token, body: { sql } });
  assertEquals(rowsOf(await ask(path, "SELECT count(*) FROM t")), [[3]]);
  assertEquals(rowsOf(await ask(`${path}@pr-1`, "SELECT count(*) FROM t")), [[3]]);
  assertEquals((await ask(path, "INSERT INTO t VALUES (4)")).status, 200);
  // The branch is there without the state it began in. Who is told that it is not there would claim it anew, over its rows.
  const merge = { token, body: { mode: "data", onConflict: "abort" } };
  for (
    const answer of [
      await app.request("GET", `${path}/branches/pr-1/diff`, { token }),
      await app.request("POST", `${path}/branches/pr-1/merge`, merge),
    ]
  ) {
    assertEquals([answer.status, answer.body.code], [400, "merge_refused"]);
    assertMatch(String(answer.body.error), /^Export what the branch has, then reset it;/);
  }
  assertEquals((await app.request("POST", `${path}/branches/pr-1/reset`, { token })).status, 200);
  assertEquals((await app.request("GET", `${path}/branches/pr-1/diff`, { token })).status, 200);
});

Deno.test("the file of a database that was lost alone comes back without what stood beside it, and others stay", async () => {
  await using world = await archivedWorld();
  let id: string;
  let otherId: string;
  {
    await using app = await world.start();
    const [acme, other] = [await app.namespace(), await app.namespace("other")];
    id = acme.database.id;
    otherId = other.database.id;
    await acme.setup("CREATE TABLE t (a)");
    await other.setup("CREATE TABLE t (a)");
    await scheduledBackups(app).take();
  }
  const path = databasePath(tenantPaths(world.dataDir).tenants, id);
  const otherPath = databasePath(tenantPaths(world.dataDir).tenants, otherId);
  {
    using other = new DatabaseSync(otherPath);
    other.exec("CREATE TABLE not_archived (a)");
    using database = new DatabaseSync(path);
    database.exec("PRAGMA wal_autocheckpoint=0; CREATE TABLE of_the_lost_file (a)");
    await Deno.copyFile(`${path}-wal`, `${world.folder}/log`);
  }
  await Deno.remove(path);
  await Deno.rename(`${world.folder}/log`, `${path}-wal`);
  // Its service was killed while it folded the log in.
  const known = new ArchiveFolder(archiveFolder(`${world.dataDir}/archive`, id));
  const state = await known.read();
  assert(state !== null);
  await known.write({ ...state, phase: "folding" });

  const restored = await world.command(["restore", "archive", "--replace"]);
  assertEquals(restored.code, 0, restored.text);
  {
    using database = new DatabaseSync(path, { readOnly: true });
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE name IN ('t', 'of_the_lost_file')");
    assertEquals(tables.all().map(({ name }) => name), ["t"]);
    using other = new DatabaseSync(otherPath, { readOnly: true });
    const kept = other.prepare("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'not_archived'");
    assertEquals(kept.get()?.["n"], 1);
  }
  await using app = await world.start();
  const { archive } = app.deps.tenants;
  assert(archive !== null);
  await archive.toSnapshot(id, { atMs: Date.now(), label: "now" });
  // What comes after is not told as if it went on with the lost file.
  assert(
    (await new ArchiveFolder(archiveFolder(`${world.dataDir}/archive`, id)).read())?.epoch !== state.epoch,
  );
});

Deno.test("what is written while a backup is being taken is in the last one", async () => {
  await using world = await archivedWorld();
  await using app = await world.start();
  const acme = await app.namespace();
  const { kvFile, tenants: { archive } } = app.deps;
  assert(kvFile !== undefined && archive !== null);
  const last = Promise.withResolvers<void>();
  let asked = 0;
  const withObjects: typeof archive.withObjects = async (work) => {
    if (asked++ === 0) {
      await acme.mint("read");
      last.resolve(backups.takeLast());
    }
    await archive.withObjects(work);
  };
  const { engineEnvironment: environment } = configFromEnvironment();
  const folder = `${world.dataDir}/backups`;
  const { clock } = app.deps;
  const backups = new ScheduledBackups({
    ...{ kvFile, folder, environment, keepDays: 30, clock },
    archive: { withObjects },
  });
  await backups.take();
  await last.promise;
  assertEquals((await backupKeys(world)).filter((key) => key.includes("/whole-")).length, 2);
});

Deno.test("a command refuses what it does not do", async () => {
  await using world = await backupWorld();
  const refused = async (...args: string[]) => {
    const { code, text } = await world.command(args);
    assertEquals(code, 2, text);
    return text.split("\n")[0];
  };
  assertEquals(
    await refused("restore", "b.tar", "--at", "2026-11-22T14:30:00Z"),
    "Leave out --at, or choose archive: a file is one moment",
  );
  assertEquals(await refused("restore", "b.tar", "--from=http://127.0.0.1"), "Leave out --from here");
  assertEquals(await refused("take", "b.tar", "--replace"), "Leave out --replace here");
  assertMatch(await refused("take", "archive") ?? "", /^Name a file: /);
});

Deno.test("an object that is lost or altered, and a backup that never became whole, bring nothing back", async () => {
  await using world = await archivedWorld();
  {
    await using app = await world.start();
    await app.namespace();
    await scheduledBackups(app).take();
  }
  await Deno.rename(world.dataDir, `${world.dataDir}-lost`);
  const store = new FolderObjects(world.objects);
  const [part = "", whole = ""] = await backupKeys(world);
  const restore = async () => {
    const { code, text } = await world.command(["restore", "archive"]);
    const left = await Deno.stat(world.dataDir).then(() => "there", () => "nothing");
    return [code, left, text.slice(0, 35)];
  };
  const bytes = (await store.get(part))?.bytes ?? new Uint8Array();
  const altered = bytes.slice();
  altered[bytes.length >> 1] = (altered[bytes.length >> 1] ?? 0) ^ 1;
  await store.put(part, altered);
  assertEquals(await restore(), [1, "nothing", "Not done: Choose a moment before 20"]);
  await store.remove(part);
  assertEquals((await restore()).slice(0, 2), [1, "nothing"]);
  await store.put(part, bytes);
  await store.remove(whole);
  assertEquals(await restore(), [1, "nothing", "Not done: Choose another moment or "]);
});

Deno.test("changes of the control plane that are in no backup for too long are told by readyz", async () => {
  await using world = await archivedWorld();
  const clock = new TurnableClock();
  await using app = await world.start({ clock });
  const acme = await app.namespace();
  await acme.setup("CREATE TABLE t (a)");
  const { archive } = app.deps.tenants;
  assert(archive !== null);
  const until = async (done: () => Promise<boolean>) => {
    while (!await done()) await pause(20);
  };
  clock.turn(MINUTE_MS);
  await until(async () => (await archive.status(acme.database.id)).archivedUntilMs !== null);

  const backups = scheduledBackups(app);
  const readiness = new ReadinessCheck({ ...app.deps, backups });
  const degraded = async () => (await readiness.check()).degraded.map(({ reason }) => reason);
  await backups.tick();
  assertEquals((await degraded()).includes("backup_late"), false);

  // Where the store was, there is a file: it does not answer any more.
  await Deno.rename(world.objects, `${world.objects}-away`);
  await Deno.writeTextFile(world.objects, "");
  await acme.setup("INSERT INTO t VALUES (1)");
  await acme.mint("read");
  // The slower a backup was, the longer it is until the next one.
  clock.turn(10 * MINUTE_MS);
  await until(async () => (await degraded()).includes("archive_away"));
  await backups.tick().then(() => assert(false, "nothing was kept"), () => {});
  clock.turn(20 * MINUTE_MS);
  assertEquals((await degraded()).includes("backup_late"), true);

  await Deno.remove(world.objects);
  await Deno.rename(`${world.objects}-away`, world.objects);
  clock.turn(10 * MINUTE_MS);
  await backups.tick();
  assertEquals((await degraded()).includes("backup_late"), false);
});
