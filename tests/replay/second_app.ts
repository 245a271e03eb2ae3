// A second instance of the service over the KV and the tenant databases of the first, with a KV that fails on demand.
import type { Hono } from "hono";
import { createApp } from "../../routes/app.ts";
import { type AppDeps, appDeps } from "../../routes/http/app_deps.ts";
import type { Env } from "../../routes/http/env.ts";
import { type ApiAnswer, type ApiRequest, callApi } from "../testing/call_api.ts";
import type { StartedApp } from "../testing/start_app.ts";
import type { Clock } from "../../lib/core/clock.ts";
import type { TenantCall, TenantStore } from "../../lib/tenant/tenant_store.ts";

export interface SecondApp extends AsyncDisposable {
  readonly app: Hono<Env>;
  readonly deps: AppDeps;
  /** While true every call to KV fails. */
  down: boolean;
  /** Called when a call reaches a tenant's database, before it runs. */
  onRun: () => void;
  /** Called before a restore. */
  onRestore: () => void;
  /** Called before a database's storage is dropped. */
  onDrop: () => void;
  request(method: string, path: string, options?: ApiRequest): Promise<ApiAnswer>;
}

/** `clock`: of its own machine. */
export function secondApp(first: StartedApp, clock: Clock = first.deps.clock): SecondApp {
  const made = parts(first, clock, {
    isDown: () => second.down,
    onRun: () => second.onRun(),
    onRestore: () => second.onRestore(),
    onDrop: () => second.onDrop(),
  });
  const second: SecondApp = { ...made, down: false, onRun: () => {}, onRestore: () => {}, onDrop: () => {} };
  return second;
}

interface Hooks {
  readonly isDown: () => boolean;
  readonly onRun: () => void;
  readonly onRestore: () => void;
  readonly onDrop: () => void;
}

function parts(
  first: StartedApp,
  clock: Clock,
  { isDown, ...hooks }: Hooks,
): Omit<SecondApp, "down" | "onRun" | "onRestore" | "onDrop"> {
  const { config, baseUrl, log, bodyWatch, operatorKeyHash } = first.deps;
  const kv = failingKv(first.deps.kv, isDown);
  const tenants = watchedTenants(first.deps.tenants, hooks);
  const deps = appDeps({ config, baseUrl, clock, log, kv, tenants, bodyWatch, operatorKeyHash });
  const app = createApp(deps);
  return {
    ...{ app, deps },
    request: (method, path, options) => callApi(app, method, path, options),
    [Symbol.asyncDispose]: async () => {
      await deps.webhooks.deliverer.stop();
      await deps.query.meter.close();
    },
  };
}

/** The same store; the hooks are told of every call that is to run, of every restore, and of all that is dropped. */
function watchedTenants(
  store: TenantStore,
  { onRun, onRestore, onDrop }: Omit<Hooks, "isDown">,
): TenantStore {
  const open: TenantStore["open"] = (...input) => {
    const running = replaced(store.open(...input), "run", (run) => (call: TenantCall) => {
      onRun();
      return run(call);
    });
    return replaced(running, "restore", (restore) => (...how: Parameters<typeof restore>) => {
      onRestore();
      return restore(...how);
    });
  };
  const opening = replaced(store, "open", () => open);
  return replaced(opening, "drop", (drop) => (databaseId: string) => {
    onDrop();
    return drop(databaseId);
  });
}

/** The object with another method; all methods have the object itself as `this`. */
function replaced<T extends object, Name extends keyof T>(
  object: T,
  name: Name,
  change: (method: T[Name]) => T[Name],
): T {
  return new Proxy(object, {
    get: (target, key) => {
      const value = Reflect.get(target, key);
      const method = typeof value === "function" ? value.bind(target) : value;
      return key === name ? change(method) : method;
    },
  });
}

// deno-lint-ignore require-yield
async function* failingList(): AsyncGenerator<never> {
  await Promise.resolve();
  throw new Error("the store is away");
}

/** The same store; while `isDown()` every read and every commit is rejected as by a lost connection. */
export function failingKv(store: Deno.Kv, isDown: () => boolean): Deno.Kv {
  const fail = () => Promise.reject(new Error("the store is away"));
  const atomicOf = (atomic: Deno.AtomicOperation): Deno.AtomicOperation => {
    const proxy: Deno.AtomicOperation = new Proxy(atomic, {
      get: (target, name) => (...input: unknown[]) => {
        if (name === "commit") return isDown() ? fail() : target.commit();
        Reflect.apply(Reflect.get(target, name), target, input);
        return proxy;
      },
    });
    return proxy;
  };
  return new Proxy(store, {
    get: (target, name) => (...input: unknown[]) => {
      if (name === "atomic") return atomicOf(target.atomic());
      if (isDown()) return name === "list" ? failingList() : fail();
      return Reflect.apply(Reflect.get(target, name), target, input);
    },
  });
}

/** The same store as an instance has it that dies behind so many commits. */
export function dyingKv(kv: Deno.Kv, commits: number): Deno.Kv {
  let left = commits;
  const counted = new Proxy(kv, {
    get: (target, name) => {
      const value = Reflect.get(target, name);
      if (name !== "atomic") return typeof value === "function" ? value.bind(target) : value;
      return () => {
        const atomic = target.atomic();
        const commit = atomic.commit.bind(atomic);
        atomic.commit = () => commit().finally(() => left--);
        return atomic;
      };
    },
  });
  return failingKv(counted, () => left <= 0);
}
