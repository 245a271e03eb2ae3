// A commit that the disk has failed is told to its caller as not kept. The engine has by then written all of it into the log, where
// only the number of frames that its readers know keeps it from being there.
import { assertEquals, assertThrows } from "@std/assert";
import { Connection } from "../../lib/engine/connection.ts";
import { commitToDisk } from "../../lib/tenant/local/child/commit_to_disk.ts";
import { connectWriter } from "../../lib/tenant/local/child/log_form.ts";

/** SQLITE_IOERR_FSYNC, as `node:sqlite` throws it. */
const SYNC_FAILED = Object.assign(new Error("disk I/O error"), { errcode: 1034 });

function insert(connection: Connection, value: number): void {
  connection.internalRun("INSERT INTO t VALUES (?)", value);
}

/** The rows as who finds them that opens the file after a kill of all who had it open. */
async function rowsAfterKill(folder: string, path: string): Promise<unknown[]> {
  const found = `${folder}/found.db`;
  await copy(path, found);
  const connection = new Connection(found);
  try {
    return rowsOf(connection);
  } finally {
    connection.close();
  }
}

function rowsOf(connection: Connection): unknown[] {
  return connection.internalRows("SELECT a FROM t").map(([a]) => a);
}

async function copy(from: string, to: string): Promise<void> {
  for (const end of ["", "-wal"]) await Deno.copyFile(from + end, to + end);
}

/** The log as it is when the engine has written the transaction with this row into it. */
async function logWith(folder: string, path: string, value: number): Promise<Uint8Array> {
  const twin = `${folder}/twin.db`;
  await copy(path, twin);
  const connection = connectWriter(twin, true);
  try {
    insert(connection, value);
    return await Deno.readFile(`${twin}-wal`);
  } finally {
    connection.close();
  }
}

Deno.test("a commit whose sync the disk has failed is not there after a kill, and the file goes on", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/a.db`;
  new Connection(path).close();
  const connection = connectWriter(path, true);
  try {
    connection.internalRun("CREATE TABLE t (a)");
    insert(connection, 1);
    const log = await logWith(folder, path, 2);
    const run = connection.internalRun.bind(connection);
    connection.internalRun = (sql, ...params) => {
      if (sql !== "COMMIT") return run(sql, ...params);
      Deno.writeFileSync(`${path}-wal`, log);
      throw SYNC_FAILED;
    };
    run("BEGIN IMMEDIATE");
    insert(connection, 2);
    assertThrows(() => connection.internalRun("COMMIT"));
    assertEquals(await rowsAfterKill(folder, path), [1, 2]);
    assertThrows(() => commitToDisk(connection), /disk I\/O error/);
    assertEquals(await rowsAfterKill(folder, path), [1]);
    assertEquals([rowsOf(connection), connection.database.isTransaction], [[1], false]);
    connection.internalRun = run;
    run("BEGIN IMMEDIATE");
    insert(connection, 3);
    commitToDisk(connection);
    assertEquals(await rowsAfterKill(folder, path), [1, 3]);
  } finally {
    connection.close();
    await Deno.remove(folder, { recursive: true });
  }
});
