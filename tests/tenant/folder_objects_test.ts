// An archive in a folder keeps what it says it has: also when the power fails right behind the answer.
import { assert, assertEquals } from "@std/assert";
import { FolderObjects } from "../../lib/tenant/archive/folder_objects.ts";

/** Notes the names in each folder at the time when it is brought to the disk. */
function noteSyncedNames(): { readonly names: Set<string>; end(): void } {
  const open = Deno.open;
  const names = new Set<string>();
  Deno.open = async (path, options) => {
    const file = await open(path, options);
    const sync = file.sync.bind(file);
    file.sync = async () => {
      if ((await file.stat()).isDirectory) {
        for await (const { name } of Deno.readDir(path)) names.add(`${path}/${name}`);
      }
      await sync();
    };
    return file;
  };
  return { names, end: () => void (Deno.open = open) };
}

Deno.test("what is put has its name on the disk, and so have the folders that were made for it", async () => {
  const root = await Deno.makeTempDir();
  const synced = noteSyncedNames();
  try {
    const store = new FolderObjects(`${root}/archive`);
    assert(await store.put("db/one/a-1", new Uint8Array(1), null));
    for (const name of ["archive", "archive/db", "archive/db/one", "archive/db/one/a-1"]) {
      assert(synced.names.has(`${root}/${name}`), name);
    }
    assert(await store.put("db/one/a-2", new Uint8Array(1)));
    assert(synced.names.has(`${root}/archive/db/one/a-2`));
    assertEquals(await store.put("db/one/a-2", new Uint8Array(2), null), false);
    assertEquals((await store.get("db/one/a-2"))?.bytes.length, 1);
  } finally {
    synced.end();
    await Deno.remove(root, { recursive: true });
  }
});
