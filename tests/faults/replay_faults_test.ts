// The fault suite's short form: exactly once, whatever is killed. tests/faults/soak.ts is the long one.
import { assert, assertEquals } from "@std/assert";
import { print } from "../testing/print.ts";
import { rounds } from "../testing/rounds.ts";
import { replayRounds } from "./replay_rounds.ts";

const KILLS = rounds(15, 300);
const TIME_MS = rounds(20_000, 300_000);

Deno.test("kills of children and of the service lose no acknowledged write, tear no transaction, run no key twice", async () => {
  const figures = await replayRounds({ rounds: KILLS, untilMs: performance.now() + TIME_MS, plans: false });
  const { wrong, acknowledged, engineKills, serviceKills, retries, replays, unsure, ...losses } = figures;
  print(
    `${engineKills} children and ${serviceKills} services killed, ${acknowledged} calls acknowledged, ` +
      `${retries} retries, ${replays} replays, ${unsure} without an answer`,
  );
  assertEquals(wrong.slice(0, 5), []);
  assertEquals(losses, { lost: 0, twice: 0, torn: 0, unaudited: 0 });
  assert(acknowledged > 20 && serviceKills > 0 && engineKills > 0, `${acknowledged}`);
});
