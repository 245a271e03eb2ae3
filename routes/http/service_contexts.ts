// What the management services need of a request: the process's parts and the caller.
import type { Context } from "hono";
import type { QueryContext } from "../../lib/query/query_call.ts";
import type { ManageContext } from "../../lib/services/manage_context.ts";
import type { StatementsContext } from "../../lib/services/query/run_statements.ts";
import type { AppDeps } from "./app_deps.ts";
import type { Env } from "./env.ts";

export function manageContext(deps: AppDeps, c: Context<Env>): ManageContext {
  return { ...deps, caller: c.get("caller") };
}

/**
 * What the SQL services need of a request: the process's query context, the database addressed and the token.
 */
export function statementsContext(query: QueryContext, c: Context<Env>): StatementsContext {
  return { ...query, target: c.get("target"), tokenId: c.get("token").tokenId };
}
