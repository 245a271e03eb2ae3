// A shop on each kind of small disk, for tests of disks without room.
import { pause } from "../../lib/core/pause.ts";
import { assert, assertEquals } from "@std/assert";
import { type ApiAnswer, callApi } from "../testing/call_api.ts";
import { print } from "../testing/print.ts";
import { type SmallDisk, smallDisks } from "../testing/small_disk.ts";
import { type RunningService, startService } from "../testing/start_service.ts";

/** The operator's key. */
export const KEY = "operator-key-of-this-test";
/** Path of the shop's database. */
export const DATABASE = "/v1/db/acme/shop";
/** Settings of each service. */
export const settings = { DEMO: "0", OPERATOR_KEY: KEY };
/** A shop on one of them. */
export interface Shop {
  readonly disk: SmallDisk;
  readonly service: RunningService;
  readonly token: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
  query(sql: string, headers?: Record<string, string>): Promise<ApiAnswer>;
}

/** Calls of a service by that token. */
export function calls(service: RunningService, token: string): Pick<Shop, "call" | "query"> {
  const app = { request: (path: string, init: RequestInit) => fetch(service.url + path, init) };
  const call: Shop["call"] = (method, path, body, headers = {}) =>
    callApi(app, method, path, { token, headers, ...(body === undefined ? {} : { body }) });
  return { call, query: (sql, headers) => call("POST", `${DATABASE}/query`, { sql }, headers) };
}

function start(disk: SmallDisk): Promise<RunningService> {
  return startService({ folder: disk.folder, launcher: disk.launcher, settings });
}

/** A shop of two items on each kind of small disk, on all of them at once. */
export async function onSmallDisks(body: (shop: Shop) => Promise<void>): Promise<void> {
  const disks = await smallDisks();
  if (disks.length === 0) print("nothing was tried: this machine has neither mount as root nor prlimit");
  const settled = await Promise.allSettled(disks.map((disk) => onSmallDisk(disk, body)));
  for (const one of settled) if (one.status === "rejected") throw one.reason;
}

async function onSmallDisk(disk: SmallDisk, body: (shop: Shop) => Promise<void>): Promise<void> {
  try {
    await using service = await start(disk);
    await body(await openShop(disk, service));
  } catch (error) {
    throw new Error(`on a ${disk.kind}`, { cause: error });
  } finally {
    await disk.remove();
  }
}

/** Steps in which the service of a disk goes on, each with the shop as it is at first. */
export async function stepsOnSmallDisks(
  t: Deno.TestContext,
  steps: Readonly<Record<string, (shop: Shop) => Promise<void>>>,
): Promise<void> {
  const step = (disk: SmallDisk, name: string, fn: () => Promise<void>) =>
    t.step({
      name: `${name}, on a ${disk.kind}`,
      fn,
      sanitizeOps: false,
      sanitizeResources: false,
      sanitizeExit: false,
    });
  await onSmallDisks(async (shop) => {
    for (const [name, body] of Object.entries(steps)) {
      await step(shop.disk, name, async () => {
        await restock(shop);
        await body(shop);
      });
    }
  });
}

async function openShop(disk: SmallDisk, service: RunningService): Promise<Shop> {
  const made = async (path: string, body: unknown) => {
    const answer = await calls(service, KEY).call("POST", path, body);
    assertEquals(answer.status, 201, answer.text);
    return answer.body.data as Record<string, string>;
  };
  await made("/api/namespaces", { slug: "acme" });
  const { token = "" } = await made("/api/namespaces/acme/tokens", { name: "test", role: "admin" });
  const shop = { disk, service, token, ...calls(service, token) };
  await restock(shop);
  return shop;
}

/** The database of two items, anew. */
async function restock({ service, query }: Shop): Promise<void> {
  const { call } = calls(service, KEY);
  const databases = "/api/namespaces/acme/databases";
  const gone = await call("DELETE", `${databases}/shop`, { confirm: "shop" });
  assert(gone.status === 404 || gone.status < 300, gone.text);
  const made = await call("POST", databases, { slug: "shop" });
  assertEquals(made.status, 201, made.text);
  await query("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)");
  await query("INSERT INTO items VALUES (1, 'pen'), (2, 'ink')");
}

/** Asks until the answer is as wanted, for at most some seconds. */
export async function until(ask: () => Promise<ApiAnswer>, status: number): Promise<ApiAnswer> {
  let answer = await ask();
  for (let look = 0; look < 100 && answer.status !== status; look++) {
    await pause(100);
    answer = await ask();
  }
  assertEquals(answer.status, status, answer.text);
  return answer;
}

/** What stands in a folder, which may be missing. */
export function leftIn(folder: string): string[] {
  try {
    return Array.from(Deno.readDirSync(folder), ({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
