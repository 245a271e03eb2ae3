// Large results are rendered in turns, between which the service does other work.
import { assert, assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { raw } from "hono/html";
import { inTurns } from "../../routes/console/parts/in_turns.ts";
import { rowChunks } from "../../lib/services/editor/row_chunks.ts";

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

Deno.test("the rows of a result are read in pieces, whatever stands in their texts", () => {
  const rows = [['a"]', "\\", '\\"'], ["]],[[", null, { $blob: "AA==" }], ["", 1.5, "\u2028"], []];
  const json = JSON.stringify({ columns: ['x"]', "y", "["], rows }).slice(0, -1);
  for (const count of [1, 2, 3, 100]) {
    const chunks = rowChunks(json, count);
    assertEquals(chunks.columns, ['x"]', "y", "["]);
    const pieces = [...chunks.rows];
    assertEquals(pieces.flat(), rows);
    assert(pieces.every((piece) => piece.length <= count));
  }
  assertEquals([...rowChunks('{"columns":[],"rows":[]', 5).rows], []);
});
