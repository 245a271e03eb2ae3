// How many files an engine child keeps open, which of them it closes, and that closing loses nothing and folds in no log.
import { assert, assertEquals } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import { createFile } from "../../lib/tenant/local/child/create_file.ts";
import { openDatabase } from "../../lib/engine/open_database.ts";
import { OpenFiles } from "../../lib/tenant/local/child/open_files.ts";
import { narrowForSchema } from "../../lib/tenant/local/child/page_cache.ts";

const DESCRIPTORS = 64;
/** Of a file that is open for reading, and for writing too. */
const READER = 3;
const BOTH = 5;

async function withFiles(
  count: number,
  bounds: { readonly bytes: number; readonly descriptors: number },
  body: (files: OpenFiles, ids: readonly string[]) => void | Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_files_" });
  const files = new OpenFiles(folder, bounds);
  try {
    const ids = Array.from({ length: count }, () => newId("db", systemClock.now()));
    for (const id of ids) {
      await Deno.mkdir(`${folder}/${id.slice(-2).toLowerCase()}`, { recursive: true });
      createFile(files.pathOf(id));
    }
    files.settle();
    await body(files, ids);
  } finally {
    files.closeAll();
    await Deno.remove(folder, { recursive: true });
  }
}

function read(files: OpenFiles, id = ""): unknown {
  const found = files.get(id).reader().internalRow("SELECT count(*) FROM _service_meta_description");
  files.settle();
  return found?.[0];
}

/** Opens the file anew only where it is not open: then its first statement has not been compiled yet. */
function isOpen(files: OpenFiles, id = ""): boolean {
  return files.get(id).holds.descriptors > 0;
}

Deno.test("a child keeps 64 files open whatever they hold, and closes the longest unused ones first", async () => {
  await withFiles(70, { bytes: 0, descriptors: 10_000 }, (files, ids) => {
    for (const id of ids.slice(0, 64)) read(files, id);
    assert(ids.slice(0, 64).every((id) => isOpen(files, id)));
    // Each was just looked at, in order, apart from the first one, which is used once more.
    read(files, ids[0]);
    for (const id of ids.slice(64)) read(files, id);
    assertEquals(ids.map((id) => isOpen(files, id)), ids.map((_, at) => at === 0 || at > 6));
  });
});

Deno.test("a child keeps no more files open than its descriptors allow", async () => {
  await withFiles(12, { bytes: 1 << 30, descriptors: DESCRIPTORS + 5 * READER }, (files, ids) => {
    for (const id of ids) read(files, id);
    assertEquals(ids.filter((id) => isOpen(files, id)), ids.slice(7));
    // A writing connection counts too.
    files.get(ids[11] ?? "").writer();
    files.settle();
    assertEquals(ids.filter((id) => isOpen(files, id)), ids.slice(8));
    assertEquals(files.get(ids[11] ?? "").holds.descriptors, BOTH);
  });
});

Deno.test("a child keeps more than 64 files open while they take little memory", async () => {
  await withFiles(100, { bytes: 1 << 30, descriptors: 10_000 }, (files, ids) => {
    for (const id of ids) read(files, id);
    assert(ids.every((id) => isOpen(files, id)));
  });
});

Deno.test("a file that is left keeps what was written in its log, and is read with it; a long log is folded in", async () => {
  await withFiles(1, { bytes: 0, descriptors: 0 }, async (files, [id = ""]) => {
    const path = files.pathOf(id);
    const logBytes = async () => (await Deno.stat(`${path}-wal`).catch(() => null))?.size ?? 0;
    const write = (text: string) => {
      const sql = "INSERT INTO _service_meta_description VALUES (?, '', ?)";
      files.get(id).writer().internalRun(sql, newId("evt", systemClock.now()), text);
      // Nothing may stay open here, so the file is closed.
      files.settle();
      assertEquals(isOpen(files, id), false);
    };
    write("short");
    assert(await logBytes() > 0);
    assertEquals(read(files, id), 1);
    write("x".repeat(1_000_000));
    assertEquals(await logBytes(), 0);
    assertEquals(read(files, id), 2);
  });
});

Deno.test("logs that were left are folded in by a sweep and at the end, so that a file alone is the database", async () => {
  await withFiles(10, { bytes: 0, descriptors: 0 }, async (files, ids) => {
    const logs = async () => {
      const sizes = ids.map((id) => Deno.stat(`${files.pathOf(id)}-wal`).then(({ size }) => size, () => 0));
      return (await Promise.all(sizes)).filter((size) => size > 0).length;
    };
    const sql = "INSERT INTO _service_meta_description VALUES ('t', '', 'x')";
    for (const id of ids) {
      files.get(id).writer().internalRun(sql);
      files.settle();
    }
    assertEquals(await logs(), 10);
    files.sweep();
    assertEquals(await logs(), 2);
    files.closeAll();
    assertEquals(await logs(), 0);
    assertEquals(ids.map((id) => read(files, id)), ids.map(() => 1));
  });
});

Deno.test("a reader that is used much gets a large cache, and loses it where it stands in the way of another file", async () => {
  // Room for 65 small caches, and for a large one beside them only while few files are open.
  await withFiles(66, { bytes: 65 * 128 * 1024, descriptors: 10_000 }, (files, ids) => {
    const [first = "", ...others] = ids;
    const cacheOf = (id: string) => files.get(id).reader().internalRow("PRAGMA cache_size")?.[0];
    const sql = "INSERT INTO _service_meta_description VALUES ('t', '', ?)";
    files.get(first).writer().internalRun(sql, "x".repeat(1_000_000));
    files.close(first);
    read(files, first);
    const small = cacheOf(first);
    for (let times = 0; times < 64; times++) read(files, first);
    const large = cacheOf(first);
    assert(Number(large) < Number(small), `${large} and ${small} KiB, as negative numbers`);
    for (const id of others.slice(0, 64)) read(files, id);
    assert(isOpen(files, first));
    assertEquals(cacheOf(first), small);
    assertEquals(read(files, first), 1);
  });
});

Deno.test("the writer of a large file gets a larger cache while it works, and none that the children's room does not count", async () => {
  await withFiles(2, { bytes: 1 << 30, descriptors: 10_000 }, (files, [large = "", small = ""]) => {
    const cacheOf = (id: string) => Number(files.get(id).writer().internalRow("PRAGMA cache_size")?.[0]);
    const insert = "INSERT INTO _service_meta_description VALUES ('t', '', ?)";
    files.get(large).writer().internalRun(insert, "x".repeat(3_000_000));
    files.close(large);
    const counted = -2048;
    // The engine's own default.
    assertEquals(cacheOf(small), -2000);
    assertEquals(cacheOf(large), -65536);
    const writer = files.get(large).writer();
    narrowForSchema(writer);
    assertEquals(cacheOf(large), counted);
    files.settle();
    // The next work of the same connection.
    assertEquals(cacheOf(large), -65536);
    files.settle();
    assertEquals(Number(writer.internalRow("PRAGMA cache_size")?.[0]), counted);
    // A transaction over several frames would hold what it has changed in between.
    const own = files.make(large);
    assertEquals(own.writer().internalRow("PRAGMA cache_size"), [-2000]);
    own.close();
  });
});

Deno.test("a writer that is ended leaves its rows in the log and the reader open; a long log is folded in at the close", async () => {
  await withFiles(1, { bytes: 0, descriptors: 10_000 }, async (files, [id = ""]) => {
    const logBytes = () => Deno.stat(`${files.pathOf(id)}-wal`).then(({ size }) => size, () => 0);
    const sql = "INSERT INTO _service_meta_description VALUES (?, '', ?)";
    const write = (name: string, text: string) => {
      files.get(id).writer().internalRun(sql, name, text);
      files.get(id).endWriter();
    };
    // Alone it stays: to close it would fold the log in.
    write("a", "short");
    assertEquals(files.get(id).writes, true);
    assertEquals(read(files, id), 1);
    write("b", "short");
    assertEquals(files.get(id).holds.descriptors, READER);
    assertEquals(read(files, id), 2);
    assert(await logBytes() > 0);
    assertEquals(files.get(id).leave(), true);
    assertEquals(read(files, id), 2);
    write("c", "x".repeat(1_000_000));
    assert(await logBytes() > 0);
    assertEquals(files.get(id).leave(), false);
    assertEquals(await logBytes(), 0);
    assertEquals(read(files, id), 3);
  });
});

Deno.test("a file that another process reads is closed at once and keeps its log; where nobody does any more, nothing is lost", async () => {
  await withFiles(2, { bytes: 0, descriptors: 10_000 }, async (files, [id = "", other = ""]) => {
    const logBytes = (of: string) => Deno.stat(`${files.pathOf(of)}-wal`).then(({ size }) => size, () => 0);
    const write = (of: string) => {
      const sql = "INSERT INTO _service_meta_description VALUES ('t', '', 'short')";
      files.get(of).writer().internalRun(sql);
      files.leaveHeld(of);
      assert(!isOpen(files, of));
    };
    using reader = openDatabase(files.pathOf(id), { readOnly: true });
    const count = reader.prepare("SELECT count(*) AS n FROM _service_meta_description");
    assertEquals(count.get()?.["n"], 0);
    write(id);
    assert(await logBytes(id) > 0);
    assertEquals(count.get()?.["n"], 1);
    write(other);
    assertEquals(await logBytes(other), 0);
    assertEquals([read(files, id), read(files, other)], [1, 1]);
  });
});
