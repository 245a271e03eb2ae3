// The door of the console, /console. What is behind it is loaded when somebody first comes: a service that nobody looks
// at holds none of it.
import { type Context, Hono } from "hono";
import { ownTurn } from "../../lib/core/own_turn.ts";
import { once } from "../../lib/core/once.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";

/** Mounted under `/console`. */
export function consoleRoutes(deps: AppDeps): Hono<Env> {
  const load = once(async () => {
    // Much of it first, each in turns of its own: at once it would keep the thread that serves for as long as all of it takes.
    for (
      const part of [
        () => import("./frame/page.tsx"),
        () => import("./pages/database/overview.tsx"),
        () => import("./pages/approvals/approval.tsx"),
        () => import("./pages/endpoints/endpoint.tsx"),
      ]
    ) {
      await part();
      await ownTurn();
    }
    const { consoleApp } = await import("./console_app.ts");
    return await consoleApp(deps);
  });
  return new Hono<Env>().all("/*", async (c) => {
    return await (await load()).fetch(c.req.raw, carriedOn(c));
  });
}

/** The console is an app of its own, and has to be told what was found out about the request before. */
function carriedOn(c: Context<Env>): Env["Bindings"] {
  return { ...c.env, carried: c.get("arrival") };
}
