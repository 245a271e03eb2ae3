// Kills of the service while log rows of reads are on their way: what was in the spool is in the log once, also after a
// kill of the process that was moving it.
import { assert, assertEquals } from "@std/assert";
import { newId } from "../../lib/core/ids.ts";
import { pause } from "../../lib/core/pause.ts";
import { LogSpool } from "../../lib/tenant/local/log/log_spool.ts";
import type { LogValue, LogValues } from "../../lib/tenant/log_columns.ts";
import { rounds } from "../testing/rounds.ts";
import { type RunningService, startService } from "../testing/start_service.ts";

const ROUNDS = rounds(3, 20);
/** Reads until one of them is seen in the spool: on a busy machine one may be in its table before anybody looks. */
const TRIES = 40;

Deno.test("log rows that a killed service had in its spool are in the log once, whatever it was doing with them", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_spool_" });
  let service: RunningService = await startService({ folder, settings: { DEMO: "1" } });
  try {
    const token = /cub_live_\w+/.exec(service.output())?.[0] ?? "";
    const request = async (path: string, init: RequestInit = {}) => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${service.url}/v1/db/demo/demo/${path}`, { ...init, headers });
      const body = await response.json();
      assertEquals(response.status, 200, JSON.stringify(body));
      return body;
    };
    const read = async (): Promise<string> => {
      const body = JSON.stringify({ sql: "SELECT count(*) FROM products" });
      return (await request("query", { method: "POST", body })).meta.queryLogId;
    };
    const seen: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const ids: string[] = [];
      for (let tries = 0; tries < TRIES; tries++) {
        ids.push(await read());
        if (await untilSpooled(folder, ids.at(-1) ?? "")) break;
      }
      seen.push(...await inSpool(folder, ids));
      // In every second round while somebody reads the log, so that the rows are being moved.
      const moving = round % 2 === 0 ? null : request("query_log").catch(() => null);
      await service.kill();
      await moving;
      service = await startService({ folder, settings: { DEMO: "1" } });
    }
    assert(seen.length > 0, "no row was ever seen in the spool");
    const sql = "SELECT id, count(*) FROM _service_meta_query_log GROUP BY id";
    const { data } = await request("query", { method: "POST", body: JSON.stringify({ sql }) });
    const logged = new Map<string, number>(data.rows);
    assertEquals(seen.filter((id) => !logged.has(id)), []);
    assertEquals(new Set(logged.values()), new Set([1]));
  } finally {
    await service.kill();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("many log rows of one database are in the log once after kills while they wait, and while they are moved little by little", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_spool_" });
  let service: RunningService = await startService({ folder, settings: { DEMO: "1" } });
  try {
    const token = /cub_live_\w+/.exec(service.output())?.[0] ?? "";
    const query = async (sql: string) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const body = JSON.stringify({ sql });
      const response = await fetch(`${service.url}/v1/db/demo/demo/query`, { method: "POST", headers, body });
      assertEquals(response.status, 200);
      return await response.json();
    };
    const ids: string[] = [];
    const readMany = async (count: number) => {
      for (let at = 0; at < count; at++) {
        const { meta } = await query("SELECT name FROM products WHERE id = 1");
        ids.push(meta.queryLogId);
      }
    };
    // Behind the first ones nobody has begun to move them, behind the others some are in their table.
    for (const restMs of [300, 1300, 1600].slice(0, rounds(2, 3))) {
      await Promise.all(Array.from({ length: 16 }, () => readMany(120)));
      await pause(restMs);
      await service.kill();
      service = await startService({ folder, settings: { DEMO: "1" } });
    }
    const { data } = await query("SELECT id, count(*) FROM _service_meta_query_log GROUP BY id");
    const logged = new Map<string, number>(data.rows);
    assertEquals(ids.filter((id) => !logged.has(id)), []);
    assertEquals(new Set(logged.values()), new Set([1]));
  } finally {
    await service.kill();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("log rows that are so many that they are left to the disk are in the log once after kills while that is done", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_spool_" });
  const settings = { DEMO: "1", LOG_BYTES: "1000000000" };
  let service: RunningService = await startService({ folder, settings });
  try {
    const token = /cub_live_\w+/.exec(service.output())?.[0] ?? "";
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const query = async (sql: string, params: readonly string[] = []) => {
      const body = JSON.stringify({ sql, params });
      const response = await fetch(`${service.url}/v1/db/demo/demo/query`, { method: "POST", headers, body });
      assertEquals(response.status, 200);
      return await response.json();
    };
    await query("SELECT 1");
    const one = "SELECT * FROM _service_meta_query_log LIMIT 1";
    for (let round = 0; round < ROUNDS; round++) {
      const [row] = (await query(one)).data.rows;
      await service.kill();
      const ids = await fillSpool(folder, row);
      service = await startService({ folder, settings });
      // Some kills come while packs are written, others while their rows are moved; the first one where there are some.
      if (round > 0) await pause(Math.random() * 100);
      else while ((await packsIn(folder)).length === 0) await pause(5);
      await service.kill();
      service = await startService({ folder, settings });
      const logged = new Map<string, number>();
      const sql =
        "SELECT id, count(*) FROM _service_meta_query_log WHERE id > ? GROUP BY id ORDER BY id LIMIT 500";
      // Each of these reads has a row too, so that there is always another page.
      for (let page: [string, number][] = [["", 0]]; !logged.has(ids.at(-1) ?? "") && page.length > 0;) {
        page = (await query(sql, [page.at(-1)?.[0] ?? ""])).data.rows;
        for (const [id, count] of page) logged.set(id, count);
      }
      assertEquals(ids.filter((id) => !logged.has(id)), []);
      assertEquals(new Set(logged.values()), new Set([1]));
      assertEquals(await packsIn(folder), []);
    }
  } finally {
    await service.kill();
    await Deno.remove(folder, { recursive: true });
  }
});

/** Puts so many rows like this one into the spool that a process leaves them to the disk; returns their ids. */
async function fillSpool(
  folder: string,
  [, , namespaceId, databaseId, ...others]: readonly LogValue[],
): Promise<string[]> {
  const spool = await LogSpool.open(`${folder}/spool`);
  const ids: string[] = [];
  const own = [namespaceId, databaseId].map(String);
  while (spool.linesFullness < 0.38) {
    const rows = Array.from({ length: 20 }, (_, at): LogValues => {
      const id = newId("qry", Date.now());
      ids.push(id);
      return [id, Date.now(), ...own, ...others.slice(0, -1), `SELECT '${"x".repeat(9_000)}${at}'`];
    });
    assert(spool.append([{ databaseId: own[1] ?? "", namespaceId: own[0] ?? "", rows }]) !== null);
  }
  await spool.close();
  return ids;
}

async function packsIn(folder: string): Promise<string[]> {
  const names = (await Array.fromAsync(Deno.readDir(`${folder}/spool`))).map(({ name }) => name);
  return names.filter((name) => name.startsWith("packs"));
}

async function untilSpooled(folder: string, id: string): Promise<boolean> {
  for (let looks = 0; looks < 100; looks++) {
    if ((await inSpool(folder, [id])).length > 0) return true;
    await pause(5);
  }
  return false;
}

/** Those of the ids that have a row in the spool. */
async function inSpool(folder: string, ids: readonly string[]): Promise<string[]> {
  let text = "";
  for await (const { name } of Deno.readDir(`${folder}/spool`)) {
    text += await Deno.readTextFile(`${folder}/spool/${name}`).catch(() => "");
  }
  return ids.filter((id) => text.includes(id));
}
