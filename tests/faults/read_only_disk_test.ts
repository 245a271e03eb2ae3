// A disk of databases that the system has made read-only after a fault: what is open for reading is read, and what would have
// to be kept is answered as on a full disk, until it can be written again.
import { assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { childrenOf } from "../testing/process_tree.ts";
import { print } from "../testing/print.ts";
import { startService } from "../testing/start_service.ts";
import { callService, manage, newToken } from "../testing/service_world.ts";

/** Whether `mount` did what it was told to; only root may. */
async function mount(...args: readonly string[]): Promise<boolean> {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return false;
  const done = await new Deno.Command("mount", { args: [...args], stdout: "null", stderr: "null" }).output();
  return done.success;
}

Deno.test("on a read-only disk a write is storage_full, and rows of the log wait for a disk that takes them", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_read_only_" });
  const disk = `${folder}/tenants`;
  await Deno.mkdir(disk);
  if (!await mount("-t", "tmpfs", "-o", "size=64m", "tmpfs", disk)) {
    await Deno.remove(folder, { recursive: true });
    return print("nothing was tried: this machine has no mount as root");
  }
  const operatorKey = `cub_op_${crypto.randomUUID()}`;
  const settings = { OPERATOR_KEY: operatorKey, DEMO: "0", TENANTS_URL: "file:" };
  const start = () => startService({ folder, settings });
  let service = await start();
  try {
    await manage({ service, operatorKey }, "", { slug: "acme" });
    await manage({ service, operatorKey }, "/acme/databases", { slug: "main" });
    const token = await newToken({ service, operatorKey }, "admin");
    const call = (sql: string) => callService({ service, token }, sql);
    for (const sql of ["CREATE TABLE t (a)", "INSERT INTO t VALUES (1)"]) {
      assertEquals((await call(sql)).status, 200);
    }
    // Nothing has a file open for writing while the disk becomes read-only. Engine children first: whoever sees the service go
    // closes its databases, and what was closed cannot be opened without writing.
    for (const child of await childrenOf(service.pid)) Deno.kill(child, "SIGKILL");
    await service.kill();
    assertEquals(await mount("-o", "remount,ro", disk), true);
    service = await start();
    const read = await call("SELECT a FROM t");
    assertEquals([read.status, read.body.code, read.body.data?.rows], [200, undefined, [[1]]]);
    const written = await call("INSERT INTO t VALUES (2)");
    assertEquals([written.status, written.body.code], [503, "storage_full"]);
    // Long enough for the rows of reads to be tried.
    await pause(2500);
    await service.kill();
    assertEquals(await mount("-o", "remount,rw", disk), true);
    service = await start();
    assertEquals((await call("INSERT INTO t VALUES (2)")).status, 200);
    const logged = await call("SELECT count(*) FROM _service_meta_query_log WHERE sql = 'SELECT a FROM t'");
    assertEquals(logged.body.data?.rows, [[1]]);
  } finally {
    await service.kill();
    await new Deno.Command("umount", { args: ["-l", disk] }).output();
    await Deno.remove(folder, { recursive: true });
  }
});
