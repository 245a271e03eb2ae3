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

Deno.test("claimDataDir() gives the folder to nobody by a lock that a failed start has removed meanwhile", async () => {
  const parent = await Deno.makeTempDir();
  const path = `${parent}/data`;
  const open = Deno.open;
  try {
    for (const others of [0, 1]) {
      const failed = await claimDataDir(path);
      const faster: Awaited<ReturnType<typeof claimDataDir>>[] = [];
      // Between the opening of the lock and its locking.
      Deno.open = async (...input) => {
        const file = await open(...input);
        Deno.open = open;
        await failed.undo();
        if (others > 0) faster.push(await claimDataDir(path));
        return file;
      };
      const claim = claimDataDir(path);
      if (others > 0) await assertRejects(() => claim, /DATA_DIR/);
      else faster.push(await claim);
      await assertRejects(() => claimDataDir(path), /DATA_DIR/);
      for (const one of faster) one.close();
      await Deno.remove(path, { recursive: true });
    }
  } finally {
    Deno.open = open;
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
