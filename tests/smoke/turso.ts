// `deno task smoke:turso`: a short list of checks against a real account, for who has one. TENANTS_URL and TENANTS_TOKEN
// as the service takes them. Databases of its own only, the catalogue's among them, and all of them are removed again.
import { assert, assertEquals } from "@std/assert";
// @ts-types="../../lib/tenant/remote/locations/libsql_client.d.ts"
import { createClient, LibsqlError } from "@libsql/client/http";
import { configFromEnvironment } from "../../lib/config.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { ConfigError } from "../../lib/core/errors.ts";
import { newId } from "../../lib/core/ids.ts";
import type { Log } from "../../lib/core/log.ts";
import { sendOnce } from "../../lib/core/send_once.ts";
import type { Fetch } from "../../lib/tenant/remote/hrana/poster.ts";
import { locationOf } from "../../lib/tenant/remote/locations/locations.ts";
import type { RemoteStore } from "../../lib/tenant/remote/remote_store.ts";
import { createTursoStore, tursoPlatform } from "../../lib/tenant/turso/create_turso_store.ts";
import { TURSO_API_URL, TursoApi } from "../../lib/tenant/turso/turso_api.ts";
import type { TursoPlatform } from "../../lib/tenant/turso/turso_platform.ts";
import { Tenant } from "../contracts/tenant_store.ts";
import { print } from "../testing/print.ts";
import { ENDLESS } from "../testing/endless.ts";

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE)";
const VALUES = "SELECT 9007199254740993, 1e999, -1e999, x'00ff', 'häß ☃', NULL, 1.5";

interface Smoke {
  readonly store: RemoteStore;
  readonly platform: TursoPlatform;
  readonly api: TursoApi;
  /** Names of all databases that were asked for. */
  readonly made: ReadonlySet<string>;
  readonly catalogLocation: string;
}

type Check = readonly [promise: string, work: (smoke: Smoke, tenant: Tenant) => Promise<void>];

const rows = (tenant: Tenant) => tenant.rows("SELECT a FROM t ORDER BY a");
const insert = (tenant: Tenant, text: string) =>
  tenant.run("write", [["INSERT INTO t (a) VALUES (?)", text]]);

/** In order; the first that fails is the last. */
const checks: readonly Check[] = [
  ["values of every kind come back", async (_, tenant) => {
    const blob = { $blob: "AP8=" };
    assertEquals(await tenant.rows(VALUES), [
      ["9007199254740993", "Infinity", "-Infinity", blob, "häß ☃", null, 1.5],
    ]);
  }],
  ["a write commits with its log and audit row, and rows read are counted", async (_, tenant) => {
    assertEquals((await insert(tenant, "one")).ok, true);
    assertEquals((await insert(tenant, "two")).ok, true);
    assertEquals(await tenant.rows("SELECT count(*) FROM _service_meta_audit"), [[3]]);
    const read = await tenant.run("read", [["SELECT a FROM t"]]);
    assert(read.ok === true && read.rowsReadBasis === "engine", JSON.stringify(read));
    assertEquals(read.results[0]?.rowsRead, 2);
  }],
  ["a clash of unique values is told as one and changes nothing", async (_, tenant) => {
    const clash = await insert(tenant, "one");
    assertEquals(clash.ok === false && clash.failure.kind, "unique_violation");
    assertEquals(await rows(tenant), [["one"], ["two"]]);
  }],
  ["50 writers at once all get through, each once", async (_, tenant) => {
    const all = await Promise.all(Array.from({ length: 50 }, (_, at) => insert(tenant, `w${at}`)));
    assertEquals(all.every(({ ok }) => ok === true), true);
    assertEquals((await tenant.run("write", [["DELETE FROM t WHERE a LIKE 'w%'"]])).ok, true);
  }],
  ["a read-only token writes nothing", async (smoke, tenant) => {
    await send(smoke, tenant, "read", "DELETE FROM t");
    assertEquals(await rows(tenant), [["one"], ["two"]]);
  }],
  [
    "a database that is closed for writes refuses the next one, and not after it is opened",
    async (smoke, tenant) => {
      const location = locationOf(tenant.id);
      await smoke.platform.block(location, { reads: false, writes: true });
      const refused = await send(smoke, tenant, "write", "INSERT INTO t (a) VALUES ('never')");
      await smoke.platform.block(location, { reads: false, writes: false });
      assertEquals(refused, "BLOCKED");
      assertEquals((await insert(tenant, "three")).ok, true);
      assertEquals(await rows(tenant), [["one"], ["three"], ["two"]]);
    },
  ],
  ["a snapshot is of the moment in which it was taken, and restoring it can be undone", async (_, tenant) => {
    await tenant.database.takeSnapshot("mine");
    assertEquals((await insert(tenant, "four")).ok, true);
    await tenant.database.restore("mine", { undoLabel: "undo" });
    assertEquals(await rows(tenant), [["one"], ["three"], ["two"]]);
    await tenant.database.restore("undo", { undoLabel: "undo-2" });
    assertEquals(await rows(tenant), [["four"], ["one"], ["three"], ["two"]]);
  }],
  ["a statement past its deadline is stopped, and the next one runs", async (_, tenant) => {
    const endless = await tenant.run("read", [[ENDLESS]], { timeoutMs: 1500 });
    assertEquals(endless.ok === false && endless.failure.kind, "timeout");
    assertEquals((await rows(tenant)).length, 4);
  }],
  ["a dropped database is gone with its snapshots", async (smoke, tenant) => {
    await smoke.store.drop(tenant.id);
    // No request waits for removals.
    await smoke.store.sweep();
    for (const name of smoke.made) {
      const { status } = await smoke.api.call({ method: "GET", path: `/databases/${name}` });
      assertEquals(status, name === smoke.catalogLocation ? 200 : 404, "a database is still there");
    }
  }],
];

/** Past every check of the service, by libSQL's own client; the code of what was refused, null where nothing was. */
async function send(
  { platform }: Smoke,
  tenant: Tenant,
  mode: "read" | "write",
  sql: string,
): Promise<string | null> {
  const { url, headers } = await platform.endpoint(locationOf(tenant.id), mode);
  const authToken = (headers["authorization"] ?? "").slice("Bearer ".length);
  const inTime = (request: Request) =>
    sendOnce(request.url, {
      method: request.method,
      headers: request.headers,
      body: request.body,
      signal: AbortSignal.timeout(15_000),
    });
  const client = createClient({ url, authToken, fetch: inTime });
  try {
    await client.execute(sql);
    return null;
  } catch (error) {
    if (error instanceof LibsqlError) return error.code;
    throw error;
  } finally {
    client.close();
  }
}

function open(): Smoke {
  const { tenantsUrl, tenantsToken: token } = configFromEnvironment();
  if (tenantsUrl.kind !== "turso") throw new ConfigError("Set TENANTS_URL to turso://<organization>/<group>");
  const made = new Set<string>();
  // Whatever comes of the request: what was asked for may be there.
  const noting: Fetch = (url, init) => {
    const name = init.method === "POST" && url.endsWith("/databases") &&
      /"name":"([^"]+)"/.exec(String(init.body));
    if (name) made.add(name[1] ?? "");
    return fetch(url, init);
  };
  const log: Log = (_, event, fields) => print(`      ${event} ${JSON.stringify(fields ?? {})}`);
  const catalogLocation = `smoke-${newId("db", systemClock.now()).slice("db_".length).toLowerCase()}`;
  const shared = { ...tenantsUrl, token, log, clock: systemClock };
  const bounds = { queryTimeoutMs: 15_000, logDays: 1, snapshotDays: 1 };
  return {
    store: createTursoStore({ ...shared, ...bounds, fetch: noting, catalogLocation }),
    platform: tursoPlatform(shared),
    api: new TursoApi({ ...shared, apiUrl: tenantsUrl.apiUrl ?? TURSO_API_URL, fetch }),
    ...{ made, catalogLocation },
  };
}

/** One line, with its time. Resolves with what the work does. */
async function step<T>(promise: string, work: () => Promise<T>): Promise<T> {
  const startMs = systemClock.monotonicMs();
  const line = (word: string) => `${word} ${Math.round(systemClock.monotonicMs() - startMs)} ms: ${promise}`;
  try {
    const result = await work();
    print(line("ok"));
    return result;
  } catch (error) {
    print(line("FAILED"));
    throw error;
  }
}

async function removeAll({ store, api, made }: Smoke): Promise<void> {
  await store.close();
  const left: string[] = [];
  for (const name of made) {
    const status = await api.call({ method: "DELETE", path: `/databases/${name}` })
      .then((answer) => answer.status, () => 0);
    if (status !== 200 && status !== 404) left.push(name);
  }
  if (left.length > 0) throw new Error(`Delete by hand: ${left.join(", ")}`);
}

/** Whether all went well. */
async function run(smoke: Smoke): Promise<boolean> {
  const removing = () => step("everything is removed again", () => removeAll(smoke));
  Deno.addSignalListener("SIGINT", () => void removing().finally(() => Deno.exit(130)));
  let good = true;
  const fail = (error: unknown) => {
    print(error instanceof Error ? `${error.name}: ${error.message}` : "unknown failure");
    good = false;
  };
  try {
    await step("the platform takes the token, and its group a database", () => smoke.store.ready());
    const tenant = await step("a new database takes a schema", () => Tenant.create(smoke.store, [T]));
    for (const [promise, work] of checks) await step(promise, () => work(smoke, tenant));
  } catch (error) {
    fail(error);
  }
  await removing().catch(fail);
  return good;
}

try {
  Deno.exit(await run(open()) ? 0 : 1);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  print(error.message);
  Deno.exit(1);
}
