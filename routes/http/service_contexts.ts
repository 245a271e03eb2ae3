// What services need of a request.
import type { Context } from "hono";
import { type Caller, callerId } from "../../lib/access/caller.ts";
import type { Target } from "../../lib/access/resolve_target.ts";
import type { QueryContext } from "../../lib/query/query_call.ts";
import type { ApprovalContext } from "../../lib/services/approvals/approval_context.ts";
import type { ManageContext } from "../../lib/services/manage_context.ts";
import type { AccountContext } from "../../lib/services/people/own_account.ts";
import type { StatementsContext } from "../../lib/services/query/run_statements.ts";
import type { AppDeps } from "./app_deps.ts";
import type { Env } from "./env.ts";

/** For the management services: the process's parts and the caller. */
export function manageContext(deps: AppDeps, c: Context<Env>): ManageContext {
  return { ...deps, caller: c.get("caller") };
}

/** For the services of people who decide. */
export function approvalContext(deps: AppDeps, c: Context<Env>): ApprovalContext {
  return { ...deps, caller: c.get("caller") };
}

/** For the SQL services: the process's query context, the database and the token. */
export function statementsContext(query: QueryContext, c: Context<Env>): StatementsContext {
  return { ...query, target: c.get("target"), tokenId: c.get("token").tokenId };
}

/** The same for whoever calls by a session: the console runs SQL by the services that `/v1` has. */
export function callerStatements(
  query: QueryContext,
  { caller, target, readmit }: {
    readonly caller: Caller;
    readonly target: Target;
    readonly readmit: QueryContext["readmit"];
  },
): StatementsContext {
  return { ...query, target, tokenId: callerId(caller), readmit };
}

/** For the services about the caller's own account. */
export function accountContext(deps: AppDeps, c: Context<Env>): AccountContext {
  return { ...deps.people, caller: c.get("caller") };
}
