// What the service does beside statements, through relays before both addresses of sqld: databases, snapshots and
// descriptions are there as they were answered, whatever befell one of the requests.
import { assert, assertEquals } from "@std/assert";
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";
import { rowsOf, type TestDatabase } from "../testing/test_namespace.ts";
import { type Fault, faults } from "./relay_faults.ts";
import { type RelayWorld, untilAnswered, withRelay } from "./relay_world.ts";

const tried: readonly string[] = [
  ...["cut before it arrived", "answer cut", "half of the answer", "twice, and the copy's answer"],
  "another server's words instead of the answer",
];
/** Behind most faults of a statement's first request the next writer waits for seconds. */
const triedOnStatements: readonly string[] = ["cut before it arrived", "answer cut"];

/** Runs the work with the fault at one of its requests, whichever address it is for; resolves with their number. */
async function underBoth<T>(
  { data, admin }: RelayWorld,
  { at, fault }: { readonly at: number; readonly fault: Fault | null },
  work: () => Promise<T>,
): Promise<{ done: T; requests: number }> {
  const before = [data.between, admin.between] as const;
  let seen = 0;
  data.between = admin.between = (_, go, cut) => seen++ === at && fault !== null ? fault(go, cut) : go();
  const done = await work();
  [data.between, admin.between] = before;
  return { done, requests: seen };
}

/** Once without a fault, then with each of them at each request. */
async function atEachRequest(
  world: RelayWorld,
  run: (under: <T>(work: () => Promise<T>) => Promise<T>, name: string) => Promise<void>,
  names = tried,
): Promise<void> {
  let requests = 0;
  let made = 0;
  const once = async (at: number, fault: Fault | null) => {
    await run(async (work) => {
      const ended = await underBoth(world, { at, fault }, work);
      requests = Math.max(requests, fault === null ? ended.requests : 0);
      return ended.done;
    }, `n${made++}`);
  };
  await once(-1, null);
  for (let at = 0; at < requests; at++) {
    for (const name of names) await once(at, faults[name] ?? null);
  }
}

const request = ({ app, tenant }: RelayWorld, method: string, path: string, options: ApiRequest = {}) =>
  app.request(method, path, { token: tenant.token, ...options });

Deno.test("a database that was made is there, and where that failed its name is free", async () => {
  await withRelay(async (world) => {
    await atEachRequest(world, async (under, slug) => {
      const path = `/api/namespaces/${world.tenant.slug}/databases`;
      const make = () => request(world, "POST", path, { body: { slug } });
      const first = await under(make);
      if (first.status !== 201) {
        assertEquals(first.status, 503, first.text);
        const second = await untilAnswered(make);
        assertEquals(second.status, 201, `${first.text} then ${second.text}`);
      }
      const database = { path: `/v1/db/${world.tenant.slug}/${slug}` };
      const answer = await world.post(database, "query", { sql: "SELECT 1" });
      assertEquals(answer.status, 200, answer.text);
    });
  });
});

Deno.test("a snapshot that was taken is listed once and whole; one that was not leaves nothing that is not whole", async () => {
  await withRelay(async (world) => {
    const database = await world.database();
    assertEquals((await world.post(database, "query", { sql: "INSERT INTO t (a) VALUES (7)" })).status, 200);
    await atEachRequest(world, async (under, label) => {
      const taken = await under(() => world.post(database, "snapshots", { label }));
      assert([201, 503].includes(taken.status), taken.text);
      await assertWhole(world, database, label, taken.status === 201, taken);
    });
  });
});

Deno.test("a destructive statement ran once and behind its snapshot, or it did not run", async () => {
  await withRelay(async (world) => {
    const database = await world.database();
    await atEachRequest(world, async (under, name) => {
      const filled = await untilAnswered(() =>
        world.post(database, "query", { sql: "INSERT INTO t (a) VALUES (7)" })
      );
      assertEquals(filled.status, 200, filled.text);
      const answer = await under(() => world.post(database, "query", { sql: "DELETE FROM t" }));
      const [[left = -1] = []] = rowsOf(
        await untilAnswered(() => world.post(database, "query", { sql: "SELECT count(*) FROM t" })),
      );
      const about = `${name}: ${answer.text} leaves ${left}`;
      if (answer.status === 200) {
        assertEquals(left, 0, about);
        await assertWhole(world, database, answer.body.meta?.snapshot ?? "", true, answer);
      } else {
        assertEquals(answer.status, 503, about);
        if (answer.body.code !== "outcome_unknown") assert(Number(left) > 0, about);
      }
    }, triedOnStatements);
  });
});

Deno.test("descriptions are stored where that was answered", async () => {
  await withRelay(async (world) => {
    const database = await world.database();
    await atEachRequest(world, async (under, name) => {
      const put = await under(() =>
        request(world, "PUT", `${database.path}/describe`, { body: { databaseDescription: name } })
      );
      const got = await untilAnswered(() => request(world, "GET", `${database.path}/describe`));
      const stored = JSON.parse(got.text).data.databaseDescription === name;
      if (put.status === 200) assert(stored, put.text);
      else assertEquals(put.status, 503, put.text);
    });
  });
});

/** Listed at most once, and where it is listed it can be restored. */
async function assertWhole(
  world: RelayWorld,
  database: TestDatabase,
  label: string,
  wanted: boolean,
  said: ApiAnswer,
): Promise<void> {
  const list = await untilAnswered(() => request(world, "GET", `${database.path}/snapshots`));
  const { data } = JSON.parse(list.text);
  const found = data.filter((one: { label: string }) => one.label === label).length;
  assert(found === 1 || !wanted && found === 0, `${found} of ${label}: ${said.text}`);
  if (found === 0) return;
  const into = `copy-${crypto.randomUUID().slice(0, 8)}`;
  const restored = await untilAnswered(() => world.post(database, "restore", { snapshot: label, into }));
  assert([200, 201].includes(restored.status), `${label}: ${said.text}, then ${restored.text}`);
  const copy = { path: `/v1/db/${world.tenant.slug}/${into}` };
  const rows = rowsOf(await world.post(copy, "query", { sql: "SELECT DISTINCT a FROM t" }));
  assertEquals(rows, [[7]], `${label}: ${said.text}`);
}
