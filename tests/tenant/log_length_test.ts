// How far a write-ahead log goes whose file is longer, because it began again at its start.
import { assertEquals, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { logReaches, trimLog } from "../../lib/tenant/log_length.ts";
import { copyDatabase } from "../../lib/tenant/local/child/file_copy.ts";
import { readWalHead } from "../../lib/tenant/wal_frames.ts";

const ROW = "INSERT INTO t VALUES (randomblob(3000))";
const ALL = "SELECT hex(a) FROM t ORDER BY rowid";
/** Bytes of the head of a log and of a frame. */
const HEAD = 32;
const FRAME = 24 + 4096;

async function withFile(work: (database: DatabaseSync, path: string) => Promise<void> | void): Promise<void> {
  const folder = await Deno.makeTempDir();
  const database = new DatabaseSync(`${folder}/t.db`);
  try {
    database.exec("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0");
    database.exec("CREATE TABLE t (a)");
    await work(database, `${folder}/t.db`);
  } finally {
    database.close();
    await Deno.remove(folder, { recursive: true });
  }
}

const lengthOf = (path: string) => Deno.statSync(`${path}-wal`).size;

/** Whether it has these frames and no more, behind those that were read. */
function assertLength(
  path: string,
  frames: number,
  read?: { readonly salts: string; readonly frames: number },
) {
  assertEquals(logReaches(`${path}-wal`, frames * FRAME, read), frames > 0);
  assertEquals(logReaches(`${path}-wal`, (frames + 1) * FRAME, read), false);
}

Deno.test("a log goes as far as its last frame, however long its file is, and behind what was read of it", async () => {
  await withFile((database, path) => {
    assertEquals(logReaches(`${path}-none`, 1), false);
    for (let at = 0; at < 20; at++) database.exec(ROW);
    const long = lengthOf(path);
    assertLength(path, (long - HEAD) / FRAME);
    database.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
    database.exec("DELETE FROM t WHERE rowid > 1");
    database.exec(ROW);
    assertEquals(lengthOf(path), long);
    const salts = readWalHead(Deno.readFileSync(`${path}-wal`).subarray(0, HEAD))?.salts ?? "";
    const copy = `${path}-copy-wal`;
    Deno.copyFileSync(`${path}-wal`, copy);
    trimLog(copy);
    const frames = (Deno.statSync(copy).size - HEAD) / FRAME;
    assertLength(path, frames);
    assertLength(path, frames - 1, { salts, frames: 1 });
    // Of another log nothing was read of this one.
    assertLength(path, frames, { salts: "0123456789abcdef", frames: 1 });
    database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    assertEquals(logReaches(`${path}-wal`, 1), false);
    trimLog(`${path}-wal`);
  });
});

Deno.test("a copy of a database leaves out what its log has behind its last frame", async () => {
  await withFile((database, path) => {
    for (let at = 0; at < 20; at++) database.exec(ROW);
    database.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
    database.exec(ROW);
    copyDatabase(path, `${path}-copy.db`);
    assertEquals(lengthOf(`${path}-copy.db`) < 6 * FRAME, true);
    assertEquals(lengthOf(path) > 20 * FRAME, true);
    using copy = new DatabaseSync(`${path}-copy.db`);
    assertEquals(copy.prepare(ALL).all(), database.prepare(ALL).all());
    assertEquals(copy.prepare("SELECT count(*) AS n FROM t").get(), { __proto__: null, n: 21 });
  });
});

Deno.test("a log that cannot be read is not left open", async () => {
  await withFile((_database, path) => {
    // It opens, and reading fails.
    const folder = path.slice(0, path.lastIndexOf("/"));
    assertThrows(() => logReaches(folder, 1));
  });
});
