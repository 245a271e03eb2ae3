// A second instance of the service over the KV and the tenant databases of the first, with a KV that fails on demand.
import type { Hono } from "hono";
import { createApp } from "../../routes/app.ts";
import { type AppDeps, appDeps } from "../../routes/http/app_deps.ts";
import type { Env } from "../../routes/http/env.ts";
import { type ApiAnswer, type ApiRequest, callApi } from "../testing/call_api.ts";
import type { StartedApp } from "../testing/start_app.ts";

export interface SecondApp extends AsyncDisposable {
  readonly app: Hono<Env>;
  readonly deps: AppDeps;
  /** While true every call to KV fails. */
  down: boolean;
  request(method: string, path: string, options?: ApiRequest): Promise<ApiAnswer>;
}

export function secondApp(first: StartedApp): SecondApp {
  const second: SecondApp = { ...parts(first, () => second.down), down: false };
  return second;
}

function parts(first: StartedApp, isDown: () => boolean): Omit<SecondApp, "down"> {
  const { config, baseUrl, clock, log, tenants, bodyWatch, operatorKeyHash } = first.deps;
  const kv = failingKv(first.deps.kv, isDown);
  const deps = appDeps({ config, baseUrl, clock, log, kv, tenants, bodyWatch, operatorKeyHash });
  const app = createApp(deps);
  return {
    ...{ app, deps },
    request: (method, path, options) => callApi(app, method, path, options),
    [Symbol.asyncDispose]: () => deps.query.meter.close(),
  };
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
