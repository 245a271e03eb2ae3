// Values above the size that Deno KV takes.
import { assertEquals } from "@std/assert";
import type { Key } from "../../lib/store/keys.ts";
import { readPieces, writePieces } from "../../lib/store/pieces.ts";
import { failureCode } from "../replay/keyed.ts";
import { failingKv } from "../replay/second_app.ts";

const PIECE = 60 * 1024;
const key = (name: string) => (piece: number): Key<Uint8Array> => ["piece", name, piece];

async function withKv(body: (kv: Deno.Kv) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  try {
    await body(kv);
  } finally {
    kv.close();
  }
}

Deno.test("writePieces() and readPieces() give back every length to the byte", async () => {
  await withKv(async (kv) => {
    for (const length of [0, 1, PIECE - 1, PIECE, PIECE + 1, 10 * PIECE, 10 * PIECE + 1, 16_777_216]) {
      const value = new Uint8Array(length).map((_, at) => (at * 31 + (at >> 8)) & 255);
      const options = { key: key(`${length}`), expireIn: 60_000 };
      const pieces = await writePieces(kv, value, options);
      assertEquals(pieces, Math.max(1, Math.ceil(length / PIECE)));
      const found = await readPieces(kv, pieces, options.key);
      assertEquals(found?.length, length);
      assertEquals(found?.every((byte, at) => byte === value[at]), true);
    }
  });
});

Deno.test("writePieces() takes a view of a larger buffer for what it shows", async () => {
  await withKv(async (kv) => {
    const view = new Uint8Array(300_000).fill(7).subarray(100_000, 200_000);
    const pieces = await writePieces(kv, view, { key: key("view"), expireIn: 60_000 });
    const found = await readPieces(kv, pieces, key("view"));
    assertEquals([found?.length, found?.every((byte) => byte === 7)], [100_000, true]);
  });
});

Deno.test("readPieces() answers null when any piece is missing", async () => {
  await withKv(async (kv) => {
    for (const missing of [0, 9, 10, 24]) {
      const pieces = await writePieces(kv, new Uint8Array(25 * PIECE), { key: key("m"), expireIn: 60_000 });
      await kv.delete(key("m")(missing));
      assertEquals(await readPieces(kv, pieces, key("m")), null);
    }
  });
});

Deno.test("pieces of a store that is away are meter_unreachable", async () => {
  await withKv(async (kv) => {
    const away = failingKv(kv, () => true);
    const options = { key: key("a"), expireIn: 60_000 };
    const calls = [
      () => writePieces(away, new Uint8Array(1), options),
      () => readPieces(away, 1, options.key),
    ];
    for (const call of calls) assertEquals(await failureCode(call), "meter_unreachable");
  });
});
