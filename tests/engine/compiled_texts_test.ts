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
      const connection = new Connection(path, true);
      compile(connection, 20);
      connection.close();
    }
    assertEquals(collections, 0);
    const stays = new Connection(path, true);
    compile(stays, 2000);
    stays.close();
    assert(collections === 1 || collections === 2, `${collections} collections`);
  } finally {
    Reflect.set(globalThis, "gc", before);
    await Deno.remove(path);
    for (const end of ["-wal", "-shm"]) await Deno.remove(path + end).catch(() => {});
  }
});
