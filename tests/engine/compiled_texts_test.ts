// When an engine child collects garbage to give SQLite its memory back.
import { assert, assertEquals } from "@std/assert";
import { Connection } from "../../lib/engine/connection.ts";
import { createFile } from "../../lib/tenant/local/child/create_file.ts";

Deno.test("texts compiled on connections that stay open are collected in time, those of closed ones need not be", async () => {
  const path = await Deno.makeTempFile({ suffix: ".db" });
  await Deno.remove(path);
  createFile(path);
  const before: unknown = Reflect.get(globalThis, "gc");
  let collections = 0;
  Reflect.set(globalThis, "gc", () => collections++);
  try {
    const compile = (connection: Connection, count: number) => {
      for (let at = 0; at < count; at++) connection.compile("read", `SELECT ${at}, '${"x".repeat(800)}'`);
    };
    // Two million characters on each: a hundred connections one after the other, and one that stays.
    for (let opened = 0; opened < 100; opened++) {
      const connection = new Connection(path, { readOnly: true });
      compile(connection, 20);
      connection.close();
    }
    assertEquals(collections, 0);
    const stays = new Connection(path, { readOnly: true });
    compile(stays, 2000);
    stays.close();
    assert(collections === 1 || collections === 2, `${collections} collections`);
  } finally {
    Reflect.set(globalThis, "gc", before);
    await Deno.remove(path);
    for (const end of ["-wal", "-shm"]) await Deno.remove(path + end).catch(() => {});
  }
});

/** Compiles 20,000 texts and keeps their statements, on connections that are closed after 100 of them, or on one. */
const COMPILES = `
  import { DatabaseSync } from "node:sqlite";
  const kept = [];
  let database = new DatabaseSync(":memory:");
  database.exec("PRAGMA hard_heap_limit=30000000");
  for (let at = 0; at < 20_000; at++) {
    kept.push(database.prepare("SELECT " + at + ", '" + "x".repeat(500) + "'"));
    if (Deno.args[0] === "closed" && at % 100 === 99) {
      database.close();
      database = new DatabaseSync(":memory:");
    }
  }
`;

Deno.test("the engine frees the statements of a connection that is closed, whoever still keeps them", async () => {
  const program = await Deno.makeTempFile({ suffix: ".js" });
  try {
    await Deno.writeTextFile(program, COMPILES);
    // The limit is one of the whole process, and is never raised again.
    const ends = (connections: string) =>
      new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-config", "--quiet", program, connections],
        env: { NO_COLOR: "1" },
      }).output();
    const [closed, one] = await Promise.all([ends("closed"), ends("one")]);
    const said = new TextDecoder().decode(one.stderr);
    assertEquals([closed.success, one.success, said.includes("out of memory")], [true, false, true], said);
  } finally {
    await Deno.remove(program);
  }
});
