// Large results are rendered in turns, between which the service does other work.
import { assert, assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { raw } from "hono/html";
import { Quote } from "../../routes/console/parts/quote.tsx";
import { inPieces } from "../../routes/console/frame/in_pieces.ts";
import { A_TURN, inTurns } from "../../routes/console/parts/in_turns.ts";
import { firstRows, rowChunks } from "../../lib/services/editor/row_chunks.ts";

Deno.test("1,000 rows of 12 cells are rendered in order, and others get their turn between them", async () => {
  let turns = 0;
  let rendering = true;
  const others = (async () => {
    while (rendering) {
      await setImmediate();
      turns++;
    }
  })();
  const rows = Array.from({ length: 1000 }, (_, at) => at);
  const html = await inTurns(
    rows,
    12,
    (at) => Promise.resolve(raw(`${at},`)),
  );
  rendering = false;
  await others;
  assertEquals(String(html), rows.map((at) => `${at},`).join(""));
  // 300 cells at a time: each of the 40 pieces ends with a turn of the event loop, and some of them are seen on any machine.
  assert(turns >= 10, `${turns} turns`);
});

Deno.test("a part that holds parts of its own which wait is rendered whole", async () => {
  const late = async (text: string) => {
    await setImmediate();
    return raw(text);
  };
  const html = await inTurns(["a", "b"], A_TURN, (text) => Quote({ children: late(text) }));
  assertEquals(String(html).replace(/<[^>]*>/g, "|").split(/\|+/), ["", "a", "b", ""]);
});

Deno.test("a long text is sent in pieces, and no character is cut in two", async () => {
  assertEquals(inPieces("short"), "short");
  for (const text of ["é€🙂".repeat(60_000), `a${"🙂".repeat(70_000)}`, "x".repeat(64 * 1024 + 1)]) {
    const body = inPieces(text);
    assert(body instanceof ReadableStream);
    let pieces = 0;
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        pieces++;
        controller.enqueue(piece);
      },
    });
    assertEquals(await new Response(body.pipeThrough(counted)).text(), text);
    assert(pieces > 1, `${pieces} pieces`);
  }
});

Deno.test("the rows of a result are read in pieces, whatever stands in their texts", () => {
  const rows = [['a"]', "\\", '\\"'], ["]],[[", null, { $blob: "AA==" }], ["", 1.5, "\u2028"], []];
  const json = JSON.stringify({ columns: ['x"]', "y", "["], rows }).slice(0, -1);
  for (const count of [1, 2, 3, 100]) {
    const chunks = rowChunks(json, count);
    assertEquals(chunks.columns, ['x"]', "y", "["]);
    const pieces = [...chunks.rows];
    assertEquals(pieces.flat(), rows);
    assert(pieces.every((piece) => piece.length <= count));
    assertEquals(firstRows(json, count), { columns: ['x"]', "y", "["], rows: rows.slice(0, count) });
  }
  assertEquals([...rowChunks('{"columns":[],"rows":[]', 5).rows], []);
  assertEquals(firstRows('{"columns":["a"],"rows":[]', 5), { columns: ["a"], rows: [] });
});
