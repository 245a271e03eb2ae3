// Single-use tokens when several processes serve one control plane. The full form: `tests/faults/redeemers.ts`.
import { assertEquals } from "@std/assert";
import { rounds } from "../testing/rounds.ts";
import { redeemerRounds } from "./redeemer_rounds.ts";

Deno.test("of many redeemers of one handoff, execution or approval token over 4 processes exactly one wins", async () => {
  const times = rounds(2, 40);
  const figures = await redeemerRounds({ processes: 4, redeemers: 50, rounds: times });
  if (figures !== null) assertEquals([figures.wrong, figures.used + figures.busy], [[], times * 3 * 49]);
});
