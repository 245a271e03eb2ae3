// Starts the service and stops it: the only place that opens Deno KV and binds the port.
import { type Config, configFromEnvironment, defaultBaseUrl } from "./lib/config.ts";
import { attempt, reasonOf } from "./lib/core/attempt.ts";
import { isoTime, systemClock } from "./lib/core/clock.ts";
import { AppError, ConfigError } from "./lib/core/errors.ts";
import { answerLimits, BODY_TIMEOUT_MS, connectionLimits as limits } from "./lib/core/limits.ts";
import { jsonLog, quietLog } from "./lib/core/log.ts";
import { pause } from "./lib/core/pause.ts";
import { BodyWatch } from "./lib/guard/body_watch.ts";
import { AnswerRoom } from "./lib/guard/answer_room.ts";
import { IDLE_LOOK_MS, IdleMemory, ownProcess } from "./lib/guard/idle_memory.ts";
import { HttpListener } from "./lib/guard/http_listener.ts";
import { findServeConnection } from "./lib/guard/serve_connection.ts";
import { FactsCache } from "./lib/query/facts_cache.ts";
import { LongTexts } from "./lib/query/long_texts.ts";
import { BACKUPS_FOLDER } from "./lib/services/backup/take_backup.ts";
import { openBackups } from "./lib/services/backup/open_backups.ts";
import { firstStart } from "./lib/services/start/first_start.ts";
import { greeting, keyGreeting } from "./lib/services/start/greeting.ts";
import { openTenants } from "./lib/services/start/open_tenants.ts";
import { operatorKey } from "./lib/services/start/operator_key.ts";
import { say } from "./lib/services/start/say.ts";
import { stopOnSignal } from "./lib/services/start/stop_on_signal.ts";
import { claimDataDir, type DataDirClaim } from "./lib/store/claim_data_dir.ts";
import { noteFormat, requireKnownFormat } from "./lib/store/data_format.ts";
import { openWithReserve } from "./lib/store/disk_reserve.ts";
import { keepPrivate } from "./lib/store/keep_private.ts";
import { withReceipts } from "./lib/store/kv_call.ts";
import { withChanges } from "./lib/store/kv_changes.ts";
import { withLifetimes } from "./lib/store/lifetimes.ts";
import { removeIfThere } from "./lib/store/if_there.ts";
import type { TenantStore } from "./lib/tenant/tenant_store.ts";
import { createApp } from "./routes/app.ts";
import { appDeps } from "./routes/http/app_deps.ts";
import type { Connection } from "./routes/http/env.ts";
import {
  backUpEveryMinute,
  BODY_SWEEP_MS,
  everyMinute,
  everyTenMinutes,
  startTimers,
  type TimedUpkeep,
  writeTokenUses,
} from "./routes/http/upkeep.ts";

/**
 * Milliseconds that a stop waits for requests in flight, and on a platform that ends a process 5 s after its signal.
 */
const DRAIN_MS = 10_000;
const HOSTED_DRAIN_MS = 2_500;
/** Milliseconds that a tenant store which does not answer may then hold up the accounts. */
const HOSTED_CLOSE_MS = 1_000;
/** Milliseconds that the last backup may take. */
const LAST_BACKUP_MS = 5_000;
/** An argument that is passed over would be taken for a setting that counts. */
const NO_ARGUMENTS =
  "Leave out the arguments and set variables before the command, as PORT=8001; routes/docs/configuration.md lists them";

/** As where the service was started as root once, or a folder was copied. A path of the system's own text stays out of it. */
const FOREIGN_FILES =
  "Let everything in DATA_DIR belong to the user who starts the service (chown -R); a part of it is somebody else's";

type Handler = (request: Request, connection: Connection) => Response | Promise<Response>;

/** What both ways to listen give. */
interface Server {
  readonly addr: Deno.NetAddr;
  shutdown(): Promise<void>;
}

const clock = systemClock;
const log = quietLog(jsonLog(() => isoTime(clock.now())), clock);
/** The process as upkeep needs it, once it has started. */
const started = Promise.withResolvers<TimedUpkeep>();

// At the top level and before anything listens: Deno Deploy looks for them there, and runs them when no process
// would. Elsewhere timers do what they do.
Deno.cron("dead blocks and leftovers", "* * * * *", () => whereHosted(everyMinute));
Deno.cron("back up the accounts", "* * * * *", () => whereHosted(backUpEveryMinute));
Deno.cron("sweep tenants", "*/10 * * * *", () => whereHosted(everyTenMinutes));

async function whereHosted(work: (upkept: TimedUpkeep) => Promise<void>): Promise<void> {
  const upkept = await started.promise;
  if (upkept.hosted) await work(upkept);
}

if (import.meta.main) {
  try {
    if (Deno.args.length > 0) throw new ConfigError(NO_ARGUMENTS);
    await start(configFromEnvironment());
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof AppError)) throw error;
    Deno.stderr.writeSync(new TextEncoder().encode(`${error.message}\n`));
    Deno.exit(1);
  }
}

/** A start that fails leaves no data folder behind that it has made. */
async function start(config: Config): Promise<void> {
  const claim = needsFolder(config) ? await claimDataDir(config.dataDir) : null;
  try {
    if (claim !== null) await requireKnownFormat(config.dataDir);
    await serve(config, claim);
  } catch (error) {
    await claim?.undo();
    // A part that the start can do without, as a database, is told when it is needed.
    throw claim !== null && error instanceof Deno.errors.PermissionDenied
      ? new ConfigError(FOREIGN_FILES)
      : error;
  }
}

/** In the order in which things can go wrong without leaving anything behind. */
async function serve(config: Config, claim: DataDirClaim | null): Promise<void> {
  // Whoever calls while the rest is being opened waits for it.
  const ready = Promise.withResolvers<Handler>();
  let handler: Handler = async (request, info) => await (await ready.promise)(request, info);
  const memory = new IdleMemory(ownProcess());
  const bodyWatch = new BodyWatch(BODY_TIMEOUT_MS / BODY_SWEEP_MS);
  const server = listen(config, bodyWatch, (request, info) => {
    memory.noteCall();
    return handler(request, info);
  });
  const boundUrl = defaultBaseUrl(config.host, server.addr.port);
  const baseUrl = config.baseUrl ?? boundUrl;
  const kv = await openKv(config);
  // A platform need not let a process start threads.
  const facts = config.hosted ? new FactsCache() : new FactsCache(new LongTexts());
  const tenants = await openTenants(config, { kv, facts, clock, log });
  const operatorKeyHash = await operatorKey(
    kv,
    config.operatorKey,
    (made) => say(keyGreeting(made), { hasSecrets: true }),
  );
  const { archive } = tenants;
  const backups = await openBackups(config, { archive, kvFile: kvFile(config.dataDir), clock });
  const deps = appDeps({
    config,
    baseUrl,
    clock,
    log,
    kv,
    ...(isOwnKv(config) ? { kvFile: kvFile(config.dataDir) } : {}),
    tenants,
    ...(backups === null ? {} : { backups }),
    bodyWatch,
    facts,
    operatorKeyHash,
  });
  memory.noteStart();
  const upkept = { deps, backups, hosted: config.hosted };
  const endTimers = startTimers(upkept);
  const memoryTimer = setInterval(() => memory.look(), IDLE_LOOK_MS);
  stopOnSignal(async () => {
    deps.changes.stop();
    const delivered = deps.webhooks.deliverer.stop();
    await Promise.race([server.shutdown(), pause(config.hosted ? HOSTED_DRAIN_MS : DRAIN_MS)]);
    endTimers();
    clearInterval(memoryTimer);
    await Promise.race([delivered, pause(config.hosted ? HOSTED_CLOSE_MS : DRAIN_MS)]);
    await closeTenants(tenants, config);
    await deps.query.meter.close();
    await writeTokenUses(deps);
    const last = attempt(log, "backup_not_archived", async () => await backups?.takeLast());
    await Promise.race([last, pause(LAST_BACKUP_MS)]);
    kv.close();
    claim?.close();
  });
  if (claim !== null) {
    await noteFormat(config.dataDir);
    await removeIfThere(`${config.dataDir}/${BACKUPS_FOLDER}`);
  }
  started.resolve(upkept);
  // Standard output of a platform is a log, and no place for the demo's token.
  const demo = config.demo && !config.hosted;
  const madeDemo = await firstStart({ ...deps, caller: { kind: "operator" } }, {
    kv,
    demo,
    alone: isOwnKv(config),
  });
  handler = createApp(deps).fetch;
  ready.resolve(handler);
  void deps.webhooks.deliverer.start();
  say(greeting({ boundUrl, baseUrl, demo: madeDemo }), { hasSecrets: madeDemo !== null });
}

/** A store on this disk bounds its own work. A server that has gone silent would be waited for at each of its requests. */
async function closeTenants(tenants: TenantStore, { hosted, tenantsUrl }: Config): Promise<void> {
  if (tenantsUrl.kind === "file") return await tenants.close();
  await Promise.race([tenants.close(), pause(hosted ? HOSTED_CLOSE_MS : DRAIN_MS)]);
}

/** Whether the KV is this process's own: the file in its folder. */
function isOwnKv({ hosted, kvUrl }: Config): boolean {
  return !hosted && kvUrl === null;
}

/** The folder is one process's: with everything elsewhere, many processes may run. */
function needsFolder({ hosted, kvUrl, tenantsUrl }: Config): boolean {
  return !hosted && (kvUrl === null || tenantsUrl.kind === "file");
}

async function openKv({ hosted, kvUrl, dataDir }: Config): Promise<Deno.Kv> {
  if (hosted) return withReceipts(await Deno.openKv());
  if (kvUrl !== null) return withReceipts(await openKvServer(kvUrl));
  // The folder is claimed, so its KV is this process's own.
  const kv = await openWithReserve(dataDir, async () => {
    await keepPrivate(kvFile(dataDir));
    return await Deno.openKv(kvFile(dataDir));
  });
  return withChanges(withLifetimes(kv, clock));
}

async function openKvServer(url: string): Promise<Deno.Kv> {
  try {
    return await Deno.openKv(url);
  } catch (error) {
    // The error's own text repeats the address, which may hold a password.
    const reason = reasonOf(error);
    throw new ConfigError(
      `Set KV_URL to a KV server that answers and DENO_KV_ACCESS_TOKEN to its token; opening it failed (${reason})`,
    );
  }
}

function kvFile(dataDir: string): string {
  return `${dataDir}/kv.sqlite3`;
}

/** On a platform its own server speaks to the clients, and bounds them. */
function listen({ host, port, hosted, dataDir }: Config, bodies: BodyWatch, handler: Handler): Server {
  const serve = hosted ? null : findServeConnection();
  if (serve === null && !hosted) log("warn", "heads_not_bounded", { deno: Deno.version.deno });
  try {
    if (serve === null) return Deno.serve({ hostname: host, port, onListen: () => {} }, handler);
    const answers = new AnswerRoom({ limits: answerLimits, folder: `${dataDir}/answers`, clock, log });
    return new HttpListener({ hostname: host, port, limits, serve, answers, bodies, log }, handler);
  } catch (error) {
    throw new ConfigError(
      `Set HOST and PORT to a free address; binding ${host}:${port} failed (${reasonOf(error)})`,
    );
  }
}
