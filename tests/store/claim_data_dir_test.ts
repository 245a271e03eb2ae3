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

Deno.test("undo() removes what the claim has made, and nothing else", async () => {
  const parent = await Deno.makeTempDir();
  const names = async () => (await Array.fromAsync(Deno.readDir(parent))).map(({ name }) => name).sort();
  try {
    await (await claimDataDir(`${parent}/a/b`)).undo();
    assertEquals(await names(), []);
    // A file that somebody else has put there stays, with the folders that lead to it.
    const used = await claimDataDir(`${parent}/a/b`);
    await Deno.writeTextFile(`${parent}/a/kept`, "");
    await used.undo();
    assertEquals((await Array.fromAsync(Deno.readDir(`${parent}/a`))).map(({ name }) => name), ["kept"]);
    // A lock file of an earlier start stays.
    (await claimDataDir(parent)).close();
    await (await claimDataDir(parent)).undo();
    assertEquals(await names(), ["a", "service.lock"]);
    (await claimDataDir(parent)).close();
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
});

Deno.test("claimDataDir() gives the folder to one of many that come while a failed start removes it", async () => {
  const parent = await Deno.makeTempDir();
  const path = `${parent}/data`;
  try {
    for (let round = 0; round < 20; round++) {
      const first = await claimDataDir(path);
      const [claims] = await Promise.all([
        Promise.allSettled(Array.from({ length: 5 }, () => claimDataDir(path))),
        first.undo(),
      ]);
      const won = claims.filter((one) => one.status === "fulfilled").map(({ value }) => value);
      assert(won.length <= 1, `${won.length} own the folder`);
      for (const one of won) one.close();
      await Deno.remove(path, { recursive: true }).catch(() => {});
    }
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
});

Deno.test("claimDataDir() names DATA_DIR when the folder cannot be made, and says why", async () => {
  const file = await Deno.makeTempFile();
  const longName = `${file}-${"x".repeat(300)}`;
  try {
    await assertRejects(
      () => claimDataDir(`${file}/data`),
      /^ConfigError: Set DATA_DIR to [^\n]*\(NotADirectory\)$/,
    );
    await assertRejects(
      () => claimDataDir(longName),
      /^ConfigError: Set DATA_DIR to [^\n]*\(ENAMETOOLONG\)$/,
    );
  } finally {
    await Deno.remove(file);
  }
});
