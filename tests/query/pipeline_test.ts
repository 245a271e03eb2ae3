// How often a call passes its stages while the database changes under it.
import { assertEquals, assertRejects } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { answered, START_OVER, untilAnswered } from "../../lib/query/pipeline.ts";

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
