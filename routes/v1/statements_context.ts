// What the SQL services need of a request: the process's query context, the database addressed and the token.
import type { Context } from "hono";
import type { QueryContext } from "../../lib/query/query_call.ts";
import type { StatementsContext } from "../../lib/services/query/run_statements.ts";
import type { Env } from "../http/env.ts";

export function statementsContext(query: QueryContext, c: Context<Env>): StatementsContext {
  return { ...query, target: c.get("target"), tokenId: c.get("token").tokenId };
}
