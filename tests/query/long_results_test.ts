// Long results reach their callers whole, whoever asks beside them and whatever alphabet they are in.
import { assertEquals } from "@std/assert";
import { oneStore } from "../testing/cases.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { startApp } from "../testing/start_app.ts";

const { run, test } = oneStore();
Deno.test("long results", run);

const ROWS =
  "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT ?) SELECT i, ? || i FROM c";
const WORDS = ["plain ", "größer ", "雪だるま", "🙂☃", '"\\\t\u0001'];
const expected = (count: number, word: string) =>
  Array.from({ length: count }, (_, at) => [at + 1, `${word}${at + 1}`]);

test("long and short results of one moment, in several alphabets, are each answered with their own rows", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const calls = Array.from({ length: 20 }, (_, at) => ({
    count: at % 4 === 0 ? 3 : 4000 + at,
    word: WORDS[at % WORDS.length] ?? "",
  }));
  const answers = await Promise.all(calls.map(({ count, word }, at) =>
    // One of them fails behind others of its group.
    at === 7 ? tenant.query("SELECT abs(-9223372036854775808)") : tenant.query(ROWS, [count, word])
  ));
  for (const [at, answer] of answers.entries()) {
    if (at === 7) {
      assertEquals(answer.status, 400);
      continue;
    }
    const { count = 0, word = "" } = calls[at] ?? {};
    assertEquals([answer.status, rowsOf(answer)], [200, expected(count, word)], `call ${at}`);
    assertEquals(answer.body.meta?.rowsWritten, 0);
  }
});

test("a batch may have long results beside short ones", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const answer = await tenant.batch(
    WORDS.flatMap((word) => [[ROWS, 5000, word], ["SELECT ?", word]] as const),
  );
  assertEquals(answer.status, 200, answer.text);
  const results = answer.body.data as { readonly rows: unknown }[];
  assertEquals(
    results.map((one) => one.rows),
    WORDS.flatMap((word) => [expected(5000, word), [[word]]]),
  );
});

test("a step of a plan that read a long result is answered with the same text again", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const step = { "Plan-Key": "plan", "Plan-Step": "one" };
  const ask = () => tenant.query(ROWS, [5000, "größer 🙂 "], { headers: step });
  const [first, again] = [await ask(), await ask()];
  assertEquals([first.status, rowsOf(first)], [200, expected(5000, "größer 🙂 ")]);
  assertEquals([again.text, again.headers.get("plan-replayed")], [first.text, "true"]);
});
