// A question costs its model once: what is lost on the way is not sent again behind our back.
import { assertEquals } from "@std/assert";
import { publishedApp } from "../published/publish.ts";
import { openRelay } from "../testing/relay.ts";

Deno.test("a model whose kept-alive connection closes unanswered was asked once, and the caller hears of it", async () => {
  const asked: string[] = [];
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  await using server = Deno.serve(options, async (request) => {
    asked.push(await request.text());
    const content = '{"sql":"SELECT name FROM item","explanation":"Names."}';
    return Response.json({ choices: [{ message: { role: "assistant", content } }] });
  });
  await using relay = openRelay(`http://127.0.0.1:${server.addr.port}`);
  await using world = await publishedApp({ settings: { ASK_URL: `${relay.url}/v1` } });
  await world.put({
    ...{ slug: "ask", kind: "ask", method: "POST", sql: "", output: "answer" },
    input: [{ name: "question", type: "text", required: true, maxLength: 500 }],
    askConfig: { allowedTables: ["item"] },
  });
  assertEquals((await world.call("ask", { body: { question: "Which items?" } })).status, 200);
  assertEquals(asked.length, 1);
  relay.between = async (_, go) => {
    await go();
    return null;
  };
  const lost = await world.call("ask", { body: { question: "Which items are lost?" } });
  assertEquals([lost.status, lost.body.code], [503, "ask_unavailable"], lost.text);
  assertEquals(asked.filter((text) => text.includes("Which items are lost?")).length, 1);
});
