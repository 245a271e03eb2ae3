// For how long an address is known from which somebody has logged in.
import { assertEquals } from "@std/assert";
import { LoginGuesses } from "../../lib/control/login_guesses.ts";
import { DAY_MS } from "../../lib/core/clock.ts";
import { controlWorld } from "../testing/control_world.ts";

Deno.test("the address of a log-in is known for 30 days, to that database, account and address", async () => {
  using world = await controlWorld();
  const { kv, clock } = world;
  const atomic = kv.atomic.bind(kv);
  const lifetimes: unknown[] = [];
  kv.atomic = () => {
    const operation = atomic();
    const set = operation.set.bind(operation);
    operation.set = (key, value, options) => {
      lifetimes.push(options?.expireIn);
      return set(key, value, options);
    };
    return operation;
  };
  const guesses = new LoginGuesses(kv, clock);
  const guess = { databaseId: "db_1", spelled: "s", exact: "e", client: "c" };
  await guesses.remember(guess);
  assertEquals(lifetimes, [30 * DAY_MS]);
  const known = [{}, { spelled: "other" }, { exact: "other" }, { client: "other" }, { databaseId: "db_2" }];
  assertEquals(
    await Promise.all(known.map((other) => guesses.isKnownPlace({ ...guess, ...other }))),
    [true, true, false, false, false],
  );
});
