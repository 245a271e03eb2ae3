// The race for single-use tokens in full, run by hand: `deno run -A tests/faults/redeemers.ts --rounds 20`. 1,000
// redeemers of one token over 4 processes, a handoff, an execution and an approval token a round; code 1 unless one won.
import { print } from "../testing/print.ts";
import { redeemerRounds } from "./redeemer_rounds.ts";

const [option = "--rounds", value = "20", ...rest] = Deno.args;
const rounds = Number(value);
if (option !== "--rounds" || rest.length > 0 || !Number.isInteger(rounds) || rounds < 1) {
  throw new TypeError("Use --rounds with a whole number from 1");
}
const startedMs = performance.now();
const figures = await redeemerRounds({
  ...{ processes: 4, redeemers: 1000, rounds },
  progress: (text) => print(`… ${text}`, "stderr"),
});
if (figures === null) Deno.exit(1);
const { wrong, ...counts } = figures;
print(
  JSON.stringify({ rounds, seconds: Math.round((performance.now() - startedMs) / 1000), ...counts }, null, 1),
);
for (const text of wrong.slice(0, 20)) print(text);
Deno.exit(wrong.length === 0 ? 0 : 1);
