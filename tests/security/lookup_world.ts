// A database that only the test's process has open, and the look-ups by key that the service would answer itself in it.
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import { pause } from "../../lib/core/pause.ts";
import type { LookupReads } from "../../lib/engine/rows_read/lookup_reads.ts";
import { createFile } from "../../lib/tenant/local/child/create_file.ts";
import { KeyLookups, type LookupDatabase } from "../../lib/tenant/local/lookups/key_lookups.ts";
import { WriteLane } from "../../lib/tenant/local/lanes/write_lane.ts";
import { LogBuffer } from "../../lib/tenant/log/log_buffer.ts";
import type { TenantCall, TenantOutcome } from "../../lib/tenant/tenant_store.ts";
import { rowsOf, tenantCall } from "../contracts/tenant_store.ts";

export const BY_ID = "SELECT a FROM t WHERE id = ?";
export const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)";
/** What it reads. */
export const KEY_READS: LookupReads = [1, 1, 1, 0];
/** More than enough reads in children for a database to be opened here. */
export const MANY = 40;

/** What a world of look-ups has. */
export interface World {
  readonly lookups: KeyLookups;
  readonly path: string;
  readonly database: LookupDatabase & {
    readonly lanes: { mayLookUp: boolean; writeTurn: number | null; readonly writes: WriteLane };
  };
  readonly call: TenantCall;
  readonly clock: { ms: number; step: number };
  /** What the process uses between two questions for it. */
  readonly usage: { cpuMs: number; diskReads: number; preempted: number };
  /** One more database with the same content, whose look-ups are taken to be proven as well. */
  readonly another: () => Promise<LookupDatabase>;
}

const ROOM = 16 * 1024 * 1024;

/** What a child answers in such a world: something that no look-up does. */
export const BY_CHILD: TenantOutcome = { ok: "stale", schemaVersion: -1 };

/** A database that only this process has open, and look-ups that a child is taken to have proven. */
export async function withFile(body: (world: World) => Promise<void>, maxBytes = ROOM): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_lookups_" });
  const clock = { ms: 0, step: 0 };
  const now = { now: systemClock.now, monotonicMs: () => clock.ms += clock.step };
  const usage = { cpuMs: 0, diskReads: 0, preempted: 0 };
  const used = { ...usage };
  const lookups = new KeyLookups(folder, now, maxBytes, () => {
    used.cpuMs += usage.cpuMs;
    used.diskReads += usage.diskReads;
    used.preempted += usage.preempted;
    return { ...used };
  });
  const make = async () => {
    const databaseId = newId("db", systemClock.now());
    const path = `${folder}/${databaseId.slice(-2).toLowerCase()}/${databaseId}.db`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    createFile(path);
    const writer = new DatabaseSync(path);
    writer.exec(`${T}; INSERT INTO t VALUES (1, 'one')`);
    const version = Number(writer.prepare("PRAGMA schema_version").get()?.["schema_version"]);
    writer.close();
    const call = tenantCall(version, "read", [[BY_ID, 1]]);
    for (let run = 0; run < MANY; run++) lookups.learn(databaseId, call, KEY_READS);
    const lanes = { mayLookUp: true, writeTurn: 1, writes: new WriteLane(), log: new LogBuffer(1e6) };
    const runInChild = () => Promise.resolve(BY_CHILD);
    return { path, call, database: { databaseId, namespaceId: "ns_1", lanes, runInChild } };
  };
  try {
    await body({ lookups, clock, usage, ...await make(), another: async () => (await make()).database });
  } finally {
    lookups.closeAll();
    await Deno.remove(folder, { recursive: true });
  }
}

/** What look-ups that come together find, once the engine is loaded; null: they are left to a child. */
export async function lookAll(
  { lookups, database }: World,
  calls: readonly TenantCall[],
): Promise<(unknown[][] | null)[]> {
  const outcomes = await Promise.all(calls.map((call) => lookups.run(database, call)));
  return outcomes.map((outcome) => outcome === null || outcome === BY_CHILD ? null : rowsOf(outcome));
}

export async function look(world: World): Promise<unknown[][] | null> {
  return (await lookAll(world, [world.call]))[0] ?? null;
}

export async function firstLook(world: World): Promise<void> {
  await import("../../lib/engine/lookup_connection.ts");
  await pause(0);
  assertEquals(await look(world), [["one"]]);
}

/** Somebody gets the write slot; null: and has it. */
export function giveSlot({ database: { lanes } }: World, turn: number | null): void {
  lanes.writes.nextTurn();
  lanes.writeTurn = turn;
}

/** Somebody has the write slot of the database, so that its file is not copied. */
export function uncopied(database: LookupDatabase): LookupDatabase {
  return Object.assign(database, { lanes: Object.assign(database.lanes, { writeTurn: null }) });
}

/** Runs SQL in another process, which is the last one to close the file where nobody holds a lock on it. */
export async function elsewhere(path: string, sql: string): Promise<void> {
  const code =
    `import { DatabaseSync } from "node:sqlite"; const db = new DatabaseSync(${JSON.stringify(path)}); ` +
    `db.exec(${JSON.stringify(sql)}); db.close();`;
  const { success } = await new Deno.Command(Deno.execPath(), { args: ["eval", code], stderr: "null" })
    .output();
  assert(success);
}

/** Takes the file's log away, as a child does with a database that has not been written for a while. */
export function putToRest(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode=DELETE");
  database.close();
}
