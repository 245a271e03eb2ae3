// The file of the control plane at the start, where somebody else holds it.
import { DatabaseSync } from "node:sqlite";
import { assert, assertRejects } from "@std/assert";
import { openWithReserve } from "../../lib/store/disk_reserve.ts";

Deno.test("a start whose kv.sqlite3 is held by a SQLite shell says so", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_held_" });
  const path = `${folder}/kv.sqlite3`;
  let last: Deno.Kv | null = null;
  const open = () => openWithReserve(folder, async () => last = await Deno.openKv(path));
  try {
    (await open()).close();
    const shell = new DatabaseSync(path);
    shell.exec("BEGIN EXCLUSIVE");
    await assertRejects(open, /^ConfigError: Stop what holds kv\.sqlite3 in DATA_DIR/);
    // Of what was given up nothing stays open once the file is free.
    const closed = Promise.withResolvers<void>();
    assert(last !== null);
    replaceClose(last, closed.resolve);
    shell.exec("ROLLBACK");
    shell.close();
    await closed.promise;
    (await open()).close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Tells when it is closed. */
function replaceClose(kv: Deno.Kv, told: () => void): void {
  const close = kv.close.bind(kv);
  kv.close = () => {
    close();
    told();
  };
}
