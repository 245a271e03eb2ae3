import { assert, assertEquals } from "@std/assert";
import { DiskReserve } from "../../lib/store/disk_reserve.ts";

const KB = 1024;

async function withFolder(body: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await body(`${folder}/reserve`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const sizeOf = async (path: string) => (await Deno.stat(path)).size;

Deno.test("a reserve gives back the room that it has, part by part, and takes it again", async () => {
  await withFolder(async (path) => {
    const reserve = new DiskReserve(path, 100 * KB);
    assertEquals(reserve.lend(), false);
    await reserve.fill();
    assertEquals(await sizeOf(path), 100 * KB);
    assertEquals([reserve.lend(), reserve.lend()], [true, true]);
    assertEquals(await sizeOf(path), 20 * KB);
    assertEquals([reserve.lend(), reserve.lend()], [true, false]);
    assertEquals(await sizeOf(path), 0);
    await reserve.fill();
    assertEquals(await sizeOf(path), 100 * KB);
  });
});

Deno.test("a reserve that an earlier process has left is used, and is never more than the disk can spare", async () => {
  await withFolder(async (path) => {
    await Deno.writeFile(path, new Uint8Array(30 * KB));
    const reserve = new DiskReserve(path, 2 ** 60);
    await reserve.fill();
    assertEquals(await sizeOf(path), 30 * KB);
    assert(reserve.lend());
    assertEquals(await sizeOf(path), 0);
  });
});
