// Instances of the service as processes on one KV and one sqld, and how a caller speaks to either.
import { startKvConnect } from "../testing/kv_connect.ts";
import { openRelay, type Relay } from "../testing/relay.ts";
import { SHARED_SQLD, startSqld } from "../testing/sqld.ts";
import { type RunningService, startService } from "../testing/start_service.ts";

export interface Instances {
  readonly services: readonly RunningService[];
  /** Before sqld's two addresses. */
  readonly data: Relay;
  readonly admin: Relay;
  /** Rows of a statement in sqld's catalogue, past every relay. */
  catalog(sql: string): Promise<string[]>;
  /** Asks the instance with that number, modulo how many there are. Status 0: no answer in time. */
  ask(at: number, method: string, path: string, body?: unknown): Promise<Answer>;
  /** One statement in a database of the namespace. */
  query(at: number, database: string, sql: string): Promise<Answer>;
  /** Names of the locations that sqld has files of, apart from the catalogue's. */
  locations(): string[];
}

export interface Answer {
  readonly status: number;
  readonly code: string | null;
  /** What it answers; null: nothing. */
  readonly data: { readonly rows?: unknown } | null;
  readonly ms: number;
}

const SECRET = "0123456789abcdef0123456789abcdef";
/** Milliseconds that a caller waits: more than the service takes for anything, on a busy machine too. */
const PATIENCE_MS = 60_000;

/** Runs `body` beside two instances with the namespace `acme` and its databases `main` and `other`, each with a table `t`. `more`: further settings. */
export async function withInstances(
  body: (world: Instances) => Promise<void>,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_instances_" });
  const sqld = await startSqld({ args: SHARED_SQLD, folder });
  const services: RunningService[] = [];
  try {
    if (sqld === null) return;
    await using kv = startKvConnect(SECRET);
    await using data = openRelay(sqld.url);
    await using admin = openRelay(sqld.adminUrl);
    const settings = {
      ...{ OPERATOR_KEY: SECRET, DENO_KV_ACCESS_TOKEN: SECRET, KV_URL: kv.url, DEMO: "0" },
      ...{ TENANTS_URL: `sqld+${data.url}?admin=${admin.url}`, WELCOME_CREDIT_USD: "1000", ...more },
    };
    services.push(...await Promise.all([1, 2].map(() => startService({ folder, settings }))));
    const api = "/api/namespaces";
    let token = SECRET;
    const ask: Instances["ask"] = async (at, method, path, json) => {
      const { status, text, ms } = await send(services[at % services.length], method, path, json, token);
      const { code = null, data = null } = JSON.parse(text);
      return { status, code, data, ms };
    };
    for (
      const [path, json] of [[api, { slug: "acme" }], [`${api}/acme/databases`, { slug: "main" }]] as const
    ) {
      await ask(0, "POST", path, json);
    }
    await ask(0, "POST", `${api}/acme/databases`, { slug: "other" });
    const made = await send(services[0], "POST", `${api}/acme/tokens`, { name: "a", role: "admin" }, token);
    token = JSON.parse(made.text).data.token;
    const query: Instances["query"] = (at, database, sql) =>
      ask(at, "POST", `/v1/db/acme/${database}/query`, { sql });
    for (const database of ["main", "other"]) await query(0, database, "CREATE TABLE t (a)");
    const locations = () =>
      [...Deno.readDirSync(`${folder}/db/dbs`)].map(({ name }) => name).filter((name) =>
        name.startsWith("db-")
      );
    const catalog = (sql: string) => catalogRows(sqld.url, sql);
    await body({ services, data, admin, catalog, ask, query, locations });
    await Promise.all(services.map((service) => service.kill()));
  } finally {
    await Promise.all(services.map((service) => service.kill()));
    await sqld?.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

async function send(
  service: RunningService | undefined,
  method: string,
  path: string,
  json: unknown,
  token: string,
): Promise<{ status: number; text: string; ms: number }> {
  const startMs = performance.now();
  const ended = (status: number, text: string) => ({ status, text, ms: performance.now() - startMs });
  try {
    const response = await fetch(`${service?.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return ended(response.status, await response.text());
  } catch (error) {
    return ended(0, JSON.stringify({ code: String(error) }));
  }
}

async function catalogRows(url: string, sql: string): Promise<string[]> {
  const response = await fetch(`${url}/v2/pipeline`, {
    method: "POST",
    headers: { "x-namespace-bin": btoa("cubby-catalog").replace(/=+$/, "") },
    body: JSON.stringify({ requests: [{ type: "execute", stmt: { sql } }, { type: "close" }] }),
  });
  const { results: [first] } = await response.json();
  return first.response.result.rows.map(([one]: { value: string }[]) => one?.value ?? "");
}
