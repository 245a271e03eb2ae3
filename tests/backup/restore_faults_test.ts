// A restore that is killed at each of its steps, and a disk that is full.
import { assertEquals } from "@std/assert";
import { configFromEnvironment, readConfig } from "../../lib/config.ts";
import { makeBackup } from "../../lib/services/backup/run_backup_child.ts";
import { smallDisks } from "../testing/small_disk.ts";
import { startPermissions } from "../testing/start_permissions.ts";
import { backup } from "../../lib/cli/backup.ts";

const { engineEnvironment } = configFromEnvironment();
const TAKEN = Date.UTC(2026, 10, 22);

/** A control plane that only has a mark, whose process ended without closing it. */
async function markedKv(folder: string, mark: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const kv = await Deno.openKv(`${folder}/kv.sqlite3`);
  await kv.set(["mark"], mark);
  for (let at = 0; at < 100; at++) await kv.set(["filling", at], "x".repeat(1000));
  kv.close();
}

async function markIn(folder: string): Promise<unknown> {
  const kv = await Deno.openKv(`${folder}/kv.sqlite3`);
  const { value } = await kv.get(["mark"]);
  assertEquals((await Array.fromAsync(kv.list({ prefix: ["filling"] }))).length, 100);
  kv.close();
  return value;
}

async function restoreIn(dataDir: string, killAt: string, path: string): Promise<number> {
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--no-lock", ...startPermissions()],
      new URL("./restore_process.ts", import.meta.url).pathname,
      ...[dataDir, killAt, path],
    ],
    cwd: new URL("../../", import.meta.url),
    stderr: "null",
  }).output();
  return code;
}

Deno.test("a restore that is killed leaves what was there or what was restored, and goes through when it is run again", async () => {
  const folder = await Deno.makeTempDir();
  await markedKv(`${folder}/old`, "restored");
  const place = { folder: `${folder}/made`, environment: engineEnvironment };
  await Deno.mkdir(place.folder);
  const path = await makeBackup(`${folder}/old/kv.sqlite3`, TAKEN, place);
  const found: Record<string, unknown> = {};
  for (const step of ["unpack", "void", "copy", "keep", "put", "note"]) {
    const dataDir = `${folder}/${step}`;
    await markedKv(dataDir, "there");
    assertEquals(await restoreIn(dataDir, step, path), 137);
    found[step] = await markIn(dataDir);
  }
  const there = { unpack: "there", void: "there", copy: "there", keep: "there", put: "there" };
  assertEquals(found, { ...there, note: "restored" });
  assertEquals(await restoreIn(`${folder}/put`, "never", path), 0);
  assertEquals(await markIn(`${folder}/put`), "restored");
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a damaged control plane is kept with its log, which is not taken for the log of what comes", async () => {
  const folder = await Deno.makeTempDir();
  await markedKv(`${folder}/old`, "restored");
  const place = { folder: `${folder}/made`, environment: engineEnvironment };
  await Deno.mkdir(place.folder);
  const path = await makeBackup(`${folder}/old/kv.sqlite3`, TAKEN, place);
  const dataDir = `${folder}/data`;
  await markedKv(dataDir, "there");
  const kvPath = `${dataDir}/kv.sqlite3`;
  const kv = await Deno.openKv(kvPath);
  await kv.set(["mark"], "in the log");
  await Deno.copyFile(`${kvPath}-wal`, `${folder}/log`);
  kv.close();
  await Deno.rename(`${folder}/log`, `${kvPath}-wal`);
  await Deno.writeTextFile(kvPath, "no database");
  assertEquals(await restoreIn(dataDir, "never", path), 0);
  const names = (await Array.fromAsync(Deno.readDir(dataDir), ({ name }) => name)).filter((name) =>
    name.startsWith("kv.sqlite3")
  );
  const times = names.map((name) => name.replace(/before-.*Z/, "before-then"));
  assertEquals(times.toSorted(), ["kv.sqlite3", "kv.sqlite3.before-then", "kv.sqlite3.before-then-wal"]);
  assertEquals(await markIn(dataDir), "restored");
  await Deno.remove(folder, { recursive: true });
});

Deno.test("on a full disk neither a backup nor a restore leaves anything, and both say why", async () => {
  for (const disk of (await smallDisks()).filter(({ kind }) => kind === "file system")) {
    const folder = await Deno.makeTempDir();
    await markedKv(`${folder}/data`, "there");
    const lines: string[] = [];
    const run = (args: string[], DATA_DIR: string) =>
      backup(args, {
        config: { ...readConfig({ DATA_DIR, TENANTS_URL: "file:" }), engineEnvironment },
        ...{ calledIn: folder, fetch, say: (line) => void lines.push(line) },
        openKv: (path) => Deno.openKv(path),
      });
    assertEquals(await run(["take", "b.tar"], `${folder}/data`), 0);
    await disk.fill(Deno.pid);
    assertEquals(await run(["take", `${disk.folder}/../b.tar`], `${folder}/data`), 1);
    assertEquals(await run(["restore", "b.tar"], disk.folder), 1);
    assertEquals(await Deno.stat(`${disk.folder}/kv.sqlite3`).then(() => true, () => false), false);
    assertEquals(
      lines.slice(1).map((line) => /room on the disk|storage is full/.test(line)),
      [true, true],
      lines.join(),
    );
    await disk.makeRoom(Deno.pid);
    assertEquals(await run(["restore", "b.tar"], disk.folder), 0);
    await disk.remove();
    await Deno.remove(folder, { recursive: true });
  }
});
