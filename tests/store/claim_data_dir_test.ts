import { assert, assertEquals, assertRejects } from "@std/assert";
import { claimDataDir } from "../../lib/store/claim_data_dir.ts";

Deno.test("claimDataDir() makes the folder for its owner only and gives it to one at a time", async () => {
  const parent = await Deno.makeTempDir();
  try {
    const path = `${parent}/a/b`;
    const lock = await claimDataDir(path);
    assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o700);
    await assertRejects(() => claimDataDir(path), /^ConfigError: [^\n]*DATA_DIR[^\n]*$/);
    lock.close();
    const next = await claimDataDir(path);
    assert(next);
    next.close();
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
});

Deno.test("claimDataDir() names DATA_DIR when the folder cannot be made", async () => {
  const file = await Deno.makeTempFile();
  try {
    await assertRejects(() => claimDataDir(`${file}/data`), /^ConfigError: Set DATA_DIR to [^\n]*$/);
  } finally {
    await Deno.remove(file);
  }
});
