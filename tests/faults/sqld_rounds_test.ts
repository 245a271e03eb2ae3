// Exactly once with the tenants in sqld, whatever is killed: sqld itself and the service, at random moments under load.
import { pause } from "../../lib/core/pause.ts";
import { assert, assertEquals } from "@std/assert";
import { print } from "../testing/print.ts";
import { rounds } from "../testing/rounds.ts";
import { startSqld } from "../testing/sqld.ts";
import { replayRounds } from "./replay_rounds.ts";

const KILLS = rounds(15, 300);
const TIME_MS = rounds(20_000, 300_000);

Deno.test("kills of sqld and of the service lose no acknowledged write, tear no transaction, run no key twice", async () => {
  const sqld = await startSqld({ args: ["--enable-namespaces", "--disable-default-namespace"] });
  if (sqld === null) return;
  try {
    const engine = {
      settings: { TENANTS_URL: `sqld+${sqld.url}?admin=${sqld.adminUrl}` },
      kill: async () => {
        await sqld.kill();
        await pause(300 * Math.random());
        await sqld.restart();
        return true;
      },
    };
    const untilMs = performance.now() + TIME_MS;
    const figures = await replayRounds({ rounds: KILLS, untilMs, plans: false, engine });
    const { wrong, acknowledged, engineKills, serviceKills, retries, replays, unsure, ...losses } = figures;
    print(
      `sqld killed ${engineKills} times and the service ${serviceKills} times, ${acknowledged} calls ` +
        `acknowledged, ${retries} retries, ${replays} replays, ${unsure} without an answer`,
    );
    assertEquals(wrong.slice(0, 5), []);
    assertEquals(losses, { lost: 0, twice: 0, torn: 0, unaudited: 0 });
    assert(acknowledged > 20 && serviceKills > 0 && engineKills > 0, `${acknowledged}`);
  } finally {
    await sqld.stop();
  }
});
