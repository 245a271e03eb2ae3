// The door of the console, /console. What is behind it is loaded when somebody first comes: a service that nobody looks
// at holds none of it.
import { type Context, Hono } from "hono";
import { once } from "../../lib/core/once.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";

/** Mounted under `/console`. */
export function consoleRoutes(deps: AppDeps): Hono<Env> {
  const load = once(() => import("./console_app.ts").then(({ consoleApp }) => consoleApp(deps)));
  return new Hono<Env>().all("/*", async (c) => {
    return await (await load()).fetch(c.req.raw, carriedOn(c));
  });
}

/** The console is an app of its own, and has to be told what was found out about the request before. */
function carriedOn(c: Context<Env>): Env["Bindings"] {
  return { ...c.env, carried: c.get("arrival") };
}
