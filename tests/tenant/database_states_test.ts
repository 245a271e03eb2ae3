// What is remembered of databases that a child has found damaged.
import { assertEquals } from "@std/assert";
import { DatabaseStates } from "../../lib/tenant/local/files/database_states.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

Deno.test("new damage is remembered however much there was before, the oldest given up for it", () => {
  const states = new DatabaseStates("tenants", new TurnableClock());
  for (let at = 0; at <= 10_000; at++) states.reportDamage(`db_${at}`);
  assertEquals(states.isReported("db_10000"), true);
  assertEquals(states.isReported("db_0"), false);
  states.reportDamage("db_1");
  states.reportDamage("db_other");
  assertEquals(["db_1", "db_2", "db_3"].map((id) => states.isReported(id)), [true, false, true]);
  states.forget("db_3");
  assertEquals(states.isReported("db_3"), false);
});
