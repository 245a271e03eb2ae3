// The everyday questions asked of a language model over HTTP: what it answers rightly is answered, what it makes up never runs.
import { assertEquals } from "@std/assert";
import { ChatModel } from "../../lib/services/ask/model/chat_model.ts";
import type { EverydayQuestion } from "./everyday/everyday_schema.ts";
import { everydayHalves } from "./everyday/halves.ts";
import { scoreQuestions } from "./score_questions.ts";

/** A server that speaks the protocol and answers a question as `write` says. */
function chatServer(write: (question: EverydayQuestion, at: number) => string) {
  const questions = everydayHalves.seen.flatMap((schema) => schema.questions);
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (got) => {
    const { messages }: {
      readonly messages: readonly { readonly role: string; readonly content: string }[];
    } = await got.json();
    const asked = messages.find(({ role }) => role === "user")?.content;
    const at = questions.findIndex(({ q }) => q === asked);
    const question = questions[at];
    const content = question ? write(question, at) : "I do not know that question.";
    return Response.json({ choices: [{ message: { role: "assistant", content } }] });
  });
  const url = `http://127.0.0.1:${server.addr.port}/v1`;
  return {
    model: new ChatModel({ url, key: null, model: null, timeoutMs: 20_000, fetch, log: () => {} }),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

Deno.test("what a model answers rightly, as JSON, fenced or bare, is the answer; what it has no answer for is refused", async () => {
  await using server = chatServer((question, at) => {
    if ("mustRefuse" in question) return '{"sql": null}';
    const [sql = ""] = [question.sql].flat();
    return [
      JSON.stringify({ sql, explanation: "As asked." }),
      `Here it is:\n\`\`\`sql\n${sql}\n\`\`\`\nHope that helps!`,
      `${sql};`,
    ][at % 3] ?? "";
  });
  const { wrong, refused } = await scoreQuestions(everydayHalves.seen, { model: server.model });
  assertEquals([...wrong, ...refused], []);
});

/** What models write instead, all of it with a word that finds it in a log. */
const madeUp = [
  "I would look at the made_up table first.",
  '{"sql": "SELECT 1 AS made_up; SELECT 2"}',
  '{"sql": "DELETE FROM made_up"}',
  "```sql\nUPDATE made_up SET a = 1\n```",
  '{"sql": "SELECT sql AS made_up FROM sqlite_schema"}',
  '{"sql": "SELECT made_up FROM _service_meta_query_log"}',
  "SELECT made_up FROM nowhere",
  '{"sql": "SELECT load_extension(\'made_up\')"}',
  '{"sql": "PRAGMA made_up"}',
  "```sql\nSELECT 1 AS made_up\n```\nor\n```sql\nSELECT 2\n```",
  '{"sql": ["SELECT made_up"]}',
  "",
];

Deno.test("what a model makes up is refused twice, and none of it runs", async () => {
  await using server = chatServer((_question, at) => madeUp[at % madeUp.length] ?? "");
  const ran: string[] = [];
  const schemas = everydayHalves.seen;
  const { asked, right, wrong, refused } = await scoreQuestions(schemas, {
    model: server.model,
    ran: (sql) => ran.push(sql),
  });
  const hopeless = schemas.flatMap(({ questions }) => questions).filter((one) => "mustRefuse" in one).length;
  assertEquals(wrong, []);
  assertEquals([right, refused.length], [hopeless, asked - hopeless]);
  assertEquals(ran.filter((sql) => sql.includes("made_up")), []);
});
