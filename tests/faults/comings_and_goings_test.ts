// The service is killed while databases and branches are made, copied, deleted and brought back: what was answered is so, what
// was not is whole or not there, and of neither anything is left on the disk or in KV that belongs to nobody.
import { assert, assertEquals } from "@std/assert";
import { HOUR_MS } from "../../lib/core/clock.ts";
import { pause } from "../../lib/core/pause.ts";
import { configFromEnvironment } from "../../lib/config.ts";
import { Ledger } from "../../lib/control/balance/ledger.ts";
import { ControlPlane } from "../../lib/control/control_plane.ts";
import { silentLog } from "../../lib/core/log.ts";
import { sweepLeftovers } from "../../lib/services/removal/remove_records.ts";
import { keys } from "../../lib/store/keys.ts";
import { createLocalStore } from "../../lib/tenant/local/create_local_store.ts";
import { rounds } from "../testing/rounds.ts";
import { type RunningService, startService } from "../testing/start_service.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { openKvFile } from "./open_kv_file.ts";

const ROUNDS = rounds(4, 60);
const OPERATOR_KEY = "operator-key-of-this-test";
const settings = { DEMO: "0", OPERATOR_KEY, TENANTS_URL: "file:", WELCOME_CREDIT_USD: "1000" };
const API = "/api/namespaces/acme";
const FILL =
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO t SELECT i FROM n";

interface Answer {
  readonly status: number;
  readonly body: { readonly code?: string; readonly data?: unknown };
}

/** Rejects when the service ends before it has answered. */
type Call = (method: string, path: string, body?: object) => Promise<Answer>;

/** `absent`: there is none of that slug, or a deleted one that could be brought back. */
type State = "absent" | "there";

/** A database, or a branch of `main`, that one caller makes and removes again and again. */
interface Thing {
  /** As it goes into a path. */
  readonly slug: string;
  state: State;
  /** What it is to be once the call under way is answered; null: there is none. */
  becoming: State | null;
}

/** What makes or removes it: one of these at random. The first is what anything can be made by. */
type Ways = Readonly<Record<State, readonly ((call: Call) => Promise<Answer>)[]>>;

function waysOf(thing: Thing): Ways {
  const [database = "", ref] = thing.slug.split("@");
  if (ref !== undefined) {
    const claim = (call: Call) =>
      call("POST", `/v1/db/acme/${database}/claim_branch`, { purpose: "test", ref });
    const remove = (call: Call) => call("DELETE", `/v1/db/acme/${database}/branches/${ref}`);
    return { absent: [claim], there: [remove] };
  }
  const copy = (call: Call) => call("POST", "/v1/db/acme/main/restore", { snapshot: "full", into: database });
  const bringBack = async (call: Call) => {
    const answer = await call("POST", `${API}/databases/restore`, { slug: database });
    return answer.status === 404 ? await copy(call) : answer;
  };
  const remove = (call: Call) => call("DELETE", `${API}/databases/${database}`, { confirm: database });
  return { absent: [copy, bringBack], there: [remove] };
}

async function untilKilled(thing: Thing, call: Call): Promise<void> {
  const ways = waysOf(thing);
  for (;;) {
    const choice = ways[thing.state];
    const way = choice[Math.floor(Math.random() * choice.length)];
    thing.becoming = thing.state === "there" ? "absent" : "there";
    const answer = await way?.(call).catch(() => null);
    if (!answer) return;
    assert(answer.status < 300, `${thing.slug} to be ${thing.becoming}: ${JSON.stringify(answer)}`);
    [thing.state, thing.becoming] = [thing.becoming, null];
  }
}

/** Afterwards it is known again what it is. */
async function look(thing: Thing, call: Call): Promise<void> {
  const { status, body } = await call("POST", `/v1/db/acme/${thing.slug}/query`, {
    sql: "SELECT count(*) FROM t",
  });
  const found = status === 200 ? "there" : "absent";
  if (found === "there") assertEquals(Object(body.data).rows, [[1000]], thing.slug);
  else assertEquals([thing.slug, status], [thing.slug, 404], JSON.stringify(body));
  assert(
    [thing.state, thing.becoming].includes(found),
    `${thing.slug} was ${thing.state}, becoming ${thing.becoming}, and is ${found}`,
  );
  [thing.state, thing.becoming] = [found, null];
  if (found === "there") return;
  const made = await waysOf(thing).absent[0]?.(call);
  assert(made !== undefined && made.status < 300, `${thing.slug} cannot be made: ${JSON.stringify(made)}`);
  thing.state = "there";
}

interface Ids {
  /** What a database, a deleted one or a branch in KV has. */
  readonly owned: ReadonlySet<string>;
  /** Of which there are files. */
  readonly stored: ReadonlySet<string>;
  /** How many notes there are about storage that nobody owns. */
  readonly noted: number;
}

async function idsIn(folder: string, kv: Deno.Kv): Promise<Ids> {
  const [owned, stored] = [new Set<string>(), new Set<string>()];
  const kinds = [keys.database("", ""), keys.deletedDatabase("", ""), keys.branchById("", "")].map(([kind]) =>
    kind
  );
  for await (const { key: [kind, , id] } of kv.list({ prefix: [] })) {
    if (kinds.includes(String(kind))) owned.add(String(id));
  }
  for await (const { name: few, isDirectory } of Deno.readDir(`${folder}/tenants`)) {
    if (!isDirectory || few.length !== 2) continue;
    for await (const { name } of Deno.readDir(`${folder}/tenants/${few}`)) {
      stored.add(name.split(".")[0] ?? "");
    }
  }
  const notes = await Array.fromAsync(kv.list({ prefix: keys.leftovers() }));
  return { owned, stored, noted: notes.length };
}

/** What the service does within hours and days, on the files of one that has ended. */
async function checkLeft(folder: string): Promise<void> {
  const clock = new TurnableClock();
  using kv = await openKvFile(`${folder}/kv.sqlite3`);
  const tenants = await createLocalStore({
    ...{ dataDirectory: folder, queryTimeoutMs: 30_000, logDays: 30, snapshotDays: 7, clock, log: silentLog },
    engineEnvironment: configFromEnvironment().engineEnvironment,
  });
  try {
    const parts = { control: new ControlPlane(kv, clock), ledger: new Ledger(kv, clock), tenants };
    // First what was deleted can still be brought back, then no more.
    for (const passedMs of [2 * HOUR_MS, 192 * HOUR_MS]) {
      clock.turn(passedMs);
      await sweepLeftovers(parts);
      await tenants.sweep();
      const { owned, stored, noted } = await idsIn(folder, kv);
      assertEquals([passedMs, [...stored].sort(), noted], [passedMs, [...owned].sort(), 0]);
    }
  } finally {
    await tenants.close();
  }
}

Deno.test("a service that is killed while databases and branches come and go keeps what it has answered, and nothing that is nobody's", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_comings_" });
  let service: RunningService = await startService({ folder, settings });
  let token = OPERATOR_KEY;
  const call: Call = async (method, path, body) => {
    const response = await fetch(service.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
  try {
    await call("POST", "/api/namespaces", { slug: "acme" });
    const made = await call("POST", `${API}/tokens`, { name: "t", role: "admin" });
    token = Object(made.body.data).token;
    await call("POST", `${API}/databases`, { slug: "main" });
    for (const sql of ["CREATE TABLE t (a)", FILL]) await call("POST", "/v1/db/acme/main/query", { sql });
    assertEquals((await call("POST", "/v1/db/acme/main/snapshots", { label: "full" })).status, 201);
    const things: Thing[] = ["one", "two", "main@one", "main@two"].map((slug) => ({
      ...{ slug, state: "absent", becoming: null },
    }));
    for (let round = 0; round < ROUNDS; round++) {
      const working = Promise.allSettled(things.map((thing) => untilKilled(thing, call)));
      await pause(1000 * Math.random());
      await service.kill();
      for (const ended of await working) if (ended.status === "rejected") throw ended.reason;
      service = await startService({ folder, settings });
      for (const thing of things) await look(thing, call);
    }
    await service.kill();
    await checkLeft(folder);
  } finally {
    await service.kill();
    await Deno.remove(folder, { recursive: true });
  }
});
