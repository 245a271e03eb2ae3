// What the management services need of a request: the process's parts and the caller.
import type { Context } from "hono";
import type { ManageContext } from "../../lib/services/manage_context.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";

export function manageContext(deps: AppDeps, c: Context<Env>): ManageContext {
  return { ...deps, caller: c.get("caller") };
}
