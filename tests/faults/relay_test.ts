// A network between the service and sqld that cuts, delays, doubles and reorders at every step of a call: what is
// answered 200 is there once, with one log row; what is answered with a failure is not there, or it says that nobody knows.
import { assert, assertEquals } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import type { TestDatabase } from "../testing/test_namespace.ts";
import { someOf } from "../testing/rounds.ts";
import { type Fault, faults } from "./relay_faults.ts";
import { type Kind, kinds } from "./relay_kinds.ts";
import { numbersOf, type RelayWorld, untilAnswered, withRelay } from "./relay_world.ts";

/** Databases at once, of sqld's 128 connections. */
const AT_ONCE = 24;

for (const [name, kind] of Object.entries(kinds)) {
  Deno.test(`${name}: whatever befalls one of its requests, it is there as its answer says`, async () => {
    await withRelay(async (world) => {
      const { requests, answer } = await runUnder(world, kind, { at: -1, fault: null });
      assertEquals(answer.status, 200, answer.text);
      const all = [...Array(requests).keys()].flatMap((at) =>
        Object.entries(faults).filter(([fault]) => kind.faults?.includes(fault) ?? true)
          .map(([fault, act]) => ({ at, fault, act }))
      );
      const cases = someOf(all, 3);
      for (let from = 0; from < cases.length; from += AT_ONCE) {
        const ended = await Promise.allSettled(
          cases.slice(from, from + AT_ONCE).map(({ at, fault, act }) =>
            runUnder(world, kind, { at, fault: act }, `${fault}, request ${at}`)
          ),
        );
        for (const one of ended) if (one.status === "rejected") throw one.reason;
      }
    });
  });
}

/** Runs the call on a database of its own and checks that what is there is what was said. */
async function runUnder(
  world: RelayWorld,
  kind: Kind,
  plan: { readonly at: number; readonly fault: Fault | null },
  about = "without a fault",
): Promise<{ requests: number; answer: ApiAnswer }> {
  const database = await world.database();
  const send = await kind.prepare(world, database);
  const before = await writesIn(world, database);
  const { done: answer, requests } = await world.under(database, plan, send);
  const said = `${about}: ${answer.status} ${answer.text}`;
  const times = timesBetween(before, await writesIn(world, database), kind, said);
  const unknown = answer.body.code === "outcome_unknown";
  if (answer.status === 200) assertEquals(times, 1, said);
  else {
    assertEquals(answer.status, 503, said);
    if (!unknown) assertEquals(times, 0, said);
  }
  const again = answer.status === 200 ? kind.single : kind.single || !unknown;
  if (again) {
    const second = await untilAnswered(send);
    const about = `${said}; then ${second.status} ${second.text}`;
    const twice = timesBetween(before, await writesIn(world, database), kind, about);
    if (kind.keyed || answer.status !== 200 && !unknown) {
      assertEquals([second.status, twice], [200, 1], about);
    } else assertEquals(twice, times, about);
  }
  return { requests, answer };
}

/** Rows of `t`, audit rows, and log rows that audit rows name. */
function writesIn(world: RelayWorld, database: TestDatabase): Promise<number[]> {
  const logged = "SELECT count(*) FROM _service_meta_query_log WHERE status = 'ok' AND id IN " +
    "(SELECT query_log_id FROM _service_meta_audit)";
  const sql = `SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM _service_meta_audit), (${logged})`;
  return numbersOf(world, database, sql);
}

/** How often the write was committed: all that belongs to it, at most once. */
function timesBetween(before: readonly number[], after: readonly number[], { rows }: Kind, about: string) {
  const [changed, audited, logged] = after.map((count, at) => count - (before[at] ?? 0));
  const times = audited ?? 0;
  assert(times <= 1, about);
  assertEquals([changed, logged], [times * rows, times], about);
  return times;
}
