// The whole app inside the test's process with real parts: in-memory KV, and tenants on a temporary folder or, where
// TEST_TENANTS_URL names one, on an sqld that all tests of the run share.
import type { Hono } from "hono";
import { newToken, tokenHash } from "../../lib/access/token_format.ts";
import { type Config, configFromEnvironment, readConfig } from "../../lib/config.ts";
import { type Clock, systemClock } from "../../lib/core/clock.ts";
import type { TransactionLimits } from "../../lib/core/limits_of_transactions.ts";
import type { Log } from "../../lib/core/log.ts";
import { BodyWatch } from "../../lib/guard/body_watch.ts";
import type { ReadDocument } from "../../lib/services/oauth/client_documents.ts";
import { FactsCache } from "../../lib/query/facts_cache.ts";
import { LongTexts } from "../../lib/query/long_texts.ts";
import { withLifetimes } from "../../lib/store/lifetimes.ts";
import { createLocalStore } from "../../lib/tenant/local/create_local_store.ts";
import { findParentTie, type ParentTie } from "../../lib/tenant/jail/start_jailed.ts";
import { archiveSettings } from "../../lib/tenant/archive/archive_settings.ts";
import { TransferRoom } from "../../lib/tenant/transfer/transfer_room.ts";
import { createSqldStore } from "../../lib/tenant/sqld/create_sqld_store.ts";
import type { TenantStore } from "../../lib/tenant/tenant_store.ts";
import { createApp } from "../../routes/app.ts";
import { type AppDeps, appDeps } from "../../routes/http/app_deps.ts";
import type { Env } from "../../routes/http/env.ts";
import { hostedApp } from "../deploy/hosted_app.ts";
import { type ApiAnswer, type ApiRequest, callApi } from "./call_api.ts";
import { makeTestNamespace, type TestNamespace } from "./test_namespace.ts";
import { tenantSettings } from "./tenant_settings.ts";
import { watchLifetimes } from "./watch_lifetimes.ts";

/** More than any test needs. Without a setting each store starts a shell to find out how much memory there is. */
const ENGINE_MEMORY_MB = 4096;
/** Found by the first store of the process, for all of them. */
let parentTie: ParentTie | null = null;
/** Sweeps after which a body counts as too slow; a test sweeps itself. */
const BODY_SWEEPS = 3;
/** Of a password's hash. */
const FEW_ITERATIONS = 1_000;

export interface StartAppOptions {
  /** Environment variables of `lib/config.ts`, laid over: a temporary `DATA_DIR`, no flood control. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** Shorter times of transactions than people have. */
  readonly transactions?: Partial<TransactionLimits>;
  /** What other servers answer. */
  readonly fetch?: typeof fetch;
  /** What documents of OAuth clients hold. */
  readonly readDocument?: ReadDocument;
  /** Passwords are hashed as in a process: a hash takes 50 ms. Else the hash of a test has fewer iterations. */
  readonly slowPasswords?: true;
  /** KV is the file of `DATA_DIR`, as main.ts opens it. */
  readonly kvOnDisk?: boolean;
}

export interface StartedApp extends AsyncDisposable {
  readonly app: Hono<Env>;
  readonly deps: AppDeps;
  readonly operatorKey: string;
  /** Every line logged so far, as text. */
  readonly logLines: readonly string[];
  /** Over the API: a namespace (`acme` unless given) with the database `main` and an unscoped admin token. */
  namespace(slug?: string): Promise<TestNamespace>;
  /** One request to the app. */
  request(method: string, path: string, options?: ApiRequest): Promise<ApiAnswer>;
  /** Ends the children and removes the folder. `await using` does it too. */
  stop(): Promise<void>;
}

/** The store of tenants: what costs most of an app's start, because an engine child starts with it. */
interface Store {
  readonly config: Config;
  readonly clock: Clock;
  readonly tenants: TenantStore;
  /** Where its log lines go, and what has read texts for it: of the app that was started last. */
  lines: string[];
  facts: Pick<FactsCache, "syntax">;
  /** Takes back what a test has put in the place of its methods. */
  restore(): void;
  /** Ends the children and removes the folder. */
  close(): Promise<void>;
}

/** The clock of a store that is lent: that of the app that has the store. Its counter never goes back. */
class LentClock implements Clock {
  followed: Clock = systemClock;
  #aheadMs = 0;

  now(): number {
    return this.followed.now();
  }

  monotonicMs(): number {
    return this.followed.monotonicMs() + this.#aheadMs;
  }

  follow(clock: Clock): void {
    this.#aheadMs = this.monotonicMs() - clock.monotonicMs();
    this.followed = clock;
  }
}

interface LentStore extends Store {
  readonly clock: LentClock;
  /** Apps that have it now. */
  apps: number;
}

/** Of the tests of a file, one after the other. */
let lent: LentStore | null = null;

/**
 * From now on, until it is disposed, apps start on one store, unless their options are about the store; each has a KV of
 * its own.
 */
export async function lendStore(): Promise<AsyncDisposable> {
  const clock = new LentClock();
  const store = await openStore({ clock });
  lent = Object.assign(store, { clock, apps: 0 });
  return {
    [Symbol.asyncDispose]: () => {
      lent = null;
      return store.close();
    },
  };
}

/** Settings that no store reads. */
const NOT_OF_STORES =
  /^(?:BASE_URL|TRUST_PROXY|CAPTCHA_\w+|ASK_\w+|SMTP_\w+|MAIL_PER_DAY|MAX_RESULT_\w+|WELCOME_CREDIT_USD|MCP_ORIGINS|WEBHOOKS_PRIVATE)$/;

/** Null: the app needs a store of its own. */
function borrow(
  { settings = {}, clock = systemClock, transactions, kvOnDisk }: StartAppOptions,
): LentStore | null {
  const isOfStores = transactions !== undefined || kvOnDisk === true ||
    !Object.keys(settings).every((name) => NOT_OF_STORES.test(name));
  if (lent === null || isOfStores || (lent.apps > 0 && clock !== lent.clock.followed)) return null;
  lent.apps++;
  lent.clock.follow(clock);
  return lent;
}

export async function startApp(options: StartAppOptions = {}): Promise<StartedApp> {
  const hosted = hostedApp();
  if (hosted !== null) return hosted;
  const borrowed = borrow(options);
  const store = borrowed ?? await openStore(options);
  const operatorKey = newToken("cub_op_");
  const logLines = store.lines = [];
  const config = borrowed ? configOf(borrowed.config.dataDir, options.settings) : store.config;
  const longTexts = new LongTexts();
  const facts = store.facts = new FactsCache(longTexts);
  const deps = await openDeps({ ...store, config }, {
    log: lineWriter(store),
    facts,
    operatorKey,
    ...(options.slowPasswords ? {} : { passwordIterations: FEW_ITERATIONS }),
    ...(options.fetch ? { fetch: options.fetch } : {}),
    ...(options.readDocument ? { readDocument: options.readDocument } : {}),
    ...(options.kvOnDisk ? { kvFile: `${store.config.dataDir}/kv.sqlite3` } : {}),
  });
  const wrongLifetimes = watchLifetimes(deps.kv);
  const app = createApp(deps);
  const request = (method: string, path: string, asked?: ApiRequest) => callApi(app, method, path, asked);
  const stop = async () => {
    await deps.webhooks.deliverer.stop();
    if (borrowed === null) await store.close();
    else giveBack(borrowed);
    await deps.query.meter.close();
    longTexts.close();
    deps.kv.close();
    const wrong = wrongLifetimes();
    if (wrong.length > 0) throw new Error(`KV was written with wrong lifetimes: ${wrong.join("; ")}`);
  };
  return {
    ...{ app, deps, operatorKey, logLines, request, stop },
    namespace: (slug) => makeTestNamespace({ request, operatorKey }, slug),
    [Symbol.asyncDispose]: stop,
  };
}

function giveBack(store: LentStore): void {
  store.restore();
  store.apps--;
}

function lineWriter(store: Pick<Store, "lines">): Log {
  return (level, event, fields) => void store.lines.push(JSON.stringify({ level, event, ...fields }));
}

async function openStore(
  { settings, transactions = {}, clock = systemClock }: StartAppOptions,
): Promise<Store> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_app_" });
  const config = configOf(folder, settings);
  const written: Pick<Store, "lines" | "facts"> = { lines: [], facts: new FactsCache() };
  const syntax = (sql: string) => written.facts.syntax(sql);
  const tenants = await openTenants(config, { clock, log: lineWriter(written), syntax, transactions });
  const close = async () => {
    await tenants.close();
    await Deno.remove(folder, { recursive: true });
  };
  const restore = restorerOf([tenants, tenants.branches]);
  return Object.assign(written, { config, clock, tenants, restore, close });
}

function configOf(folder: string, settings: StartAppOptions["settings"]): Config {
  return readConfig({ DATA_DIR: folder, FLOOD_PER_10S: "0", ...tenantSettings(), ...settings });
}

/** What it answers gives the objects back the methods that they have now. */
function restorerOf(objects: readonly object[]): () => void {
  const known = objects.map((object) => ({ object, own: new Map<string, unknown>(Object.entries(object)) }));
  return () => {
    for (const { object, own } of known) {
      for (const [name, now] of Object.entries(object)) {
        if (typeof now !== "function" || own.get(name) === now) continue;
        if (own.has(name)) Reflect.set(object, name, own.get(name));
        else Reflect.deleteProperty(object, name);
      }
    }
  };
}

interface DepsOptions {
  readonly log: Log;
  readonly facts: FactsCache;
  readonly operatorKey: string;
  readonly passwordIterations?: number;
  readonly fetch?: typeof fetch;
  readonly readDocument?: ReadDocument;
  readonly kvFile?: string;
}

/** As main.ts builds them, without a port, timers and signals. A new part of the process is added here. */
async function openDeps(
  { config, clock, tenants }: Pick<Store, "config" | "clock" | "tenants">,
  { log, operatorKey, ...outside }: DepsOptions,
) {
  const { kvFile } = outside;
  const kv = kvFile === undefined
    ? await Deno.openKv(":memory:")
    : withLifetimes(await Deno.openKv(kvFile), clock);
  return appDeps({
    ...{ config, baseUrl: config.baseUrl ?? "http://127.0.0.1", clock, log, kv, tenants },
    bodyWatch: new BodyWatch(BODY_SWEEPS),
    operatorKeyHash: tokenHash(operatorKey),
    ...outside,
  });
}

async function openTenants(
  config: Config,
  { clock, log, syntax, transactions }: {
    readonly clock: Clock;
    readonly log: Log;
    readonly syntax: FactsCache["syntax"];
    readonly transactions: Partial<TransactionLimits>;
  },
): Promise<TenantStore> {
  const { tenantsUrl } = config;
  if (tenantsUrl.kind === "sqld") {
    const secrets = { adminToken: config.tenantsToken, jwtKeyPem: config.tenantsJwtKey };
    const folder = `${config.dataDir}/transfers`;
    const transferRoom = new TransferRoom({ folder, environment: configFromEnvironment().engineEnvironment });
    return createSqldStore({ ...config, ...tenantsUrl, ...secrets, clock, log, syntax, transferRoom });
  }
  const { engineEnvironment } = configFromEnvironment();
  return await createLocalStore({
    ...config,
    engineMemoryMb: config.engineMemoryMb ?? ENGINE_MEMORY_MB,
    parentTie: parentTie ??= await findParentTie(),
    dataDirectory: config.dataDir,
    clock,
    log,
    engineEnvironment,
    transactions,
    archive: archiveSettings(config),
  });
}
