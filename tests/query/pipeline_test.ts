// How often a call passes its stages while the database changes under it.
import { assertEquals, assertRejects } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { answered, START_OVER, untilAnswered } from "../../lib/query/pipeline.ts";
import { NO_SNAPSHOT } from "../testing/call_api.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { startApp } from "../testing/start_app.ts";

function busy(): AppError {
  return new AppError("database_busy", { message: "the database keeps changing" });
}

/** A call whose stages say `start over` so many times, and how often they have run. */
function changing(times: number) {
  const call = { passes: 0 };
  const pass = () => Promise.resolve(call.passes++ < times ? START_OVER : answered("done"));
  return { call, answer: () => untilAnswered(pass, busy) };
}

Deno.test("a call starts over while the database changes, and is database_busy after five passes", async () => {
  for (let times = 0; times < 5; times++) {
    const { call, answer } = changing(times);
    assertEquals([await answer(), call.passes], ["done", times + 1]);
  }
  const { call, answer } = changing(Infinity);
  await assertRejects(answer, /the database keeps changing/);
  assertEquals(call.passes, 5);
});

Deno.test("an error of a stage ends the call at its first pass", async () => {
  let passes = 0;
  const failing = () => {
    passes++;
    return Promise.reject(new RangeError("no such stage"));
  };
  await assertRejects(() => untilAnswered(failing, busy), /no such stage/);
  assertEquals(passes, 1);
});

Deno.test("of 40 calls that change the schema at once, each runs", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const names = Array.from({ length: 40 }, (_, at) => `t${at}`);
  const answers = await Promise.all(
    names.map((name) =>
      tenant.query(`CREATE TABLE ${name} (id TEXT PRIMARY KEY)`, [], { headers: NO_SNAPSHOT })
    ),
  );
  assertEquals(answers.map(({ status, text }) => status === 200 ? "ran" : text), names.map(() => "ran"));
  const made = await tenant.query(
    "SELECT name FROM sqlite_schema WHERE name GLOB 't[0-9]*' AND type = 'table'",
  );
  assertEquals(new Set(rowsOf(made).flat()), new Set(names));
});
