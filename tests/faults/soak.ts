// The fault suite's long form, run by hand: `deno run -A tests/faults/soak.ts --rounds 200`. Ends with code 1 on any loss.
import { print } from "../testing/print.ts";
import { replayRounds } from "./replay_rounds.ts";

const [option = "--rounds", value = "200", ...rest] = Deno.args;
const rounds = Number(value);
if (option !== "--rounds" || rest.length > 0 || !Number.isInteger(rounds) || rounds < 1) {
  throw new TypeError("Use --rounds with a whole number from 1");
}
const startedMs = performance.now();
const { wrong, ...figures } = await replayRounds({
  ...{ rounds, untilMs: Infinity, plans: true },
  progress: (text) => print(`… ${text}`, "stderr"),
});
print(
  JSON.stringify(
    { rounds, seconds: Math.round((performance.now() - startedMs) / 1000), ...figures },
    null,
    1,
  ),
);
for (const text of wrong.slice(0, 20)) print(text);
const losses = figures.lost + figures.twice + figures.torn + figures.unaudited + wrong.length;
Deno.exit(losses === 0 ? 0 : 1);
