// Kills the engine (children, or an sqld) and the whole service at random moments under load, and counts what that has cost.
import { assert, assertEquals } from "@std/assert";
import { killChildren } from "../testing/engine_children.ts";
import { type RunningService, startService } from "../testing/start_service.ts";
import { replayCheck, type ReplayFigures } from "./replay_check.ts";
import { MOVE_ENDPOINT, ReplayLoad, TABLES } from "./replay_load.ts";
import { pause } from "../../lib/core/pause.ts";

export interface RoundsOptions {
  /** Kills, at most, and milliseconds after which no other begins once each kind has died. */
  readonly rounds: number;
  readonly untilMs: number;
  /** With steps of plans: their claims outlive a killed service by half a minute. */
  readonly plans: boolean;
  readonly progress?: (text: string) => void;
  /** Default: the embedded one. */
  readonly engine?: RoundsEngine;
}

/** What runs the tenants' SQL. */
export interface RoundsEngine {
  /** Settings of the service. */
  readonly settings: Readonly<Record<string, string>>;
  /** Kills it; false when there was nothing to kill. */
  kill(): Promise<boolean>;
}

export interface RoundsFigures extends ReplayFigures {
  readonly engineKills: number;
  readonly serviceKills: number;
}

/** Milliseconds of load before each kill, at most. */
const ROUND_MS = 400;
/** Acknowledged calls between one kill and the next but one, where they come within ten seconds. */
const CALLS_BETWEEN = 10;
/** Milliseconds that the service may take to get to its work again after the last kill. */
const AWAY_MS = 30_000;
/** What dies, over and over in this order: both kinds in the shortest run. */
const VICTIMS = ["engine", "service", "engine", "service", "engine"] as const;
const OPERATOR_KEY = "operator-key-of-the-fault-suite";
const NS = "/api/namespaces/faults";

export async function replayRounds(options: RoundsOptions): Promise<RoundsFigures> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_rounds_" });
  const engine = options.engine ?? { settings: {}, kill: async () => await killChildren(folder) > 0 };
  const settings = { DEMO: "0", OPERATOR_KEY, WELCOME_CREDIT_USD: "1000", ...engine.settings };
  let service: RunningService | null = await startService({ folder, settings });
  try {
    const token = await prepare(service);
    const path = "/v1/db/faults/main";
    const load = new ReplayLoad(() => ({ url: service?.url ?? null, token, path }), options.plans);
    const running = load.run();
    let [engineKills, serviceKills] = [0, 0];
    // However slow the machine is, each kind has died once.
    const isOver = () => performance.now() >= options.untilMs && engineKills > 0 && serviceKills > 0;
    while (engineKills + serviceKills < options.rounds && !isOver()) {
      // Every second victim gets to its work first, however long it takes to start on a busy machine.
      const wanted = load.acknowledgedCalls + (engineKills + serviceKills) % 2 * CALLS_BETWEEN;
      for (let looks = 0; load.acknowledgedCalls < wanted && looks < 500; looks++) await pause(20);
      await pause(ROUND_MS * Math.random());
      if (VICTIMS[(engineKills + serviceKills) % VICTIMS.length] === "service") {
        const dying: RunningService = service;
        service = null;
        await dying.kill();
        service = await startService({ folder, settings });
        await checkMoney(service);
        serviceKills++;
      } else if (await engine.kill()) engineKills++;
      options.progress?.(`${engineKills} engines, ${serviceKills} services killed`);
    }
    load.stop();
    await running;
    const figures = await replayCheck(load, (sql, params = []) => select(service, token, sql, params));
    assertEquals((await service.stop()).code, 0, service.errors());
    service = await startService({ folder, settings });
    await checkMoney(service);
    assertEquals((await service.stop()).code, 0, service.errors());
    return { ...figures, engineKills, serviceKills };
  } finally {
    await service?.kill();
    await Deno.remove(folder, { recursive: true });
  }
}

/** The namespace with its tables; an admin token of it. */
async function prepare(service: RunningService): Promise<string> {
  await manage(service, "POST", "/api/namespaces", { slug: "faults" });
  await manage(service, "POST", `${NS}/databases`, { slug: "main" });
  const { token } = await manage(service, "POST", `${NS}/tokens`, { name: "load", role: "admin" });
  for (const sql of TABLES) await select(service, token, sql, []);
  await manage(service, "POST", `${NS}/databases/main/endpoints`, MOVE_ENDPOINT);
  await manage(service, "POST", `${NS}/databases/main/endpoints/move/publish`);
  return token;
}

/** The answer's `data`. */
async function manage(service: RunningService, method: string, path: string, body?: unknown) {
  const response = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${OPERATOR_KEY}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  assert(response.ok, `${method} ${path}: ${JSON.stringify(answer)}`);
  return answer.data;
}

async function select(
  service: RunningService | null,
  token: string,
  sql: string,
  params: readonly unknown[],
): Promise<unknown[][]> {
  for (const startMs = performance.now();;) {
    const response = await fetch(`${service?.url}/v1/db/faults/main/query`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ sql, params }),
    });
    const answer = await response.json();
    if (response.ok) return answer.data.rows;
    // Right after the last kill no engine child may have started yet.
    assert(
      sql.startsWith("SELECT") && response.status === 503 && performance.now() - startMs < AWAY_MS,
      `${sql}: ${JSON.stringify(answer)}`,
    );
    await pause(250);
  }
}

/** Credits = balance + reserved + used, at any moment; what was used stands in the usage by database. */
async function checkMoney(service: RunningService): Promise<void> {
  const nano = async (path: string, name: string) => {
    const rows: Record<string, number>[] = [await manage(service, "GET", `${NS}/${path}`)].flat();
    return rows.reduce((sum, row) => sum + Math.round((row[name] ?? NaN) * 1e9), 0);
  };
  const money: Record<string, number> = await manage(service, "GET", `${NS}/balance`);
  const [credited = 0, balance = 0, reserved = 0, used = 0, writtenOff] = [
    ...["creditedUsd", "balanceUsd", "reservedUsd", "usedUsd", "writtenOffUsd"],
  ].map((name) => Math.round((money[name] ?? NaN) * 1e9));
  assertEquals([credited, credited, writtenOff], [1000e9, balance + reserved + used, 0]);
  const byDatabase = await nano("usage?by=hour", "costUsd");
  // Under load money moves between the two questions.
  const usedAfter = await nano("balance", "usedUsd");
  assert(used <= byDatabase && byDatabase <= usedAfter, `${used} ${byDatabase} ${usedAfter}`);
}
