// One message of a client: a POST is one JSON-RPC message, and nothing is remembered between two of them. The SDK speaks
// both eras of the protocol; what it is told of the request stands in a visit.
import { createMcpHandler } from "@modelcontextprotocol/server";
import type { Context } from "hono";
import { invalidInput } from "../../lib/core/errors.ts";
import { parseRoundedJson } from "../../lib/guard/parse_json.ts";
import { surveyJson } from "../../lib/guard/survey_json.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { bodyText } from "../middleware/body_text.ts";
import { readInput } from "../middleware/validate.ts";
import { mcpServer } from "./mcp_server.ts";
import { narrow, narrowingQuery } from "./tools/narrowing.ts";

/** No message of the protocol has an object of so many. The SDK takes seconds for hundreds of thousands. */
const MOST_MEMBERS = 1000;

/**
 * Errors before the protocol's own begin: `validation_failed` naming a parameter of the address, `database_not_found`,
 * `out_of_scope`, `payload_too_large`, `request_timeout`, `invalid_json`, `meter_unreachable`.
 */
export async function serveMessage(deps: AppDeps, c: Context<Env>): Promise<Response> {
  const caller = c.get("token");
  const { requestId } = c.get("arrival");
  const narrowing = await narrow(deps, caller, await readInput(c, "query", narrowingQuery));
  const body = await bodyText(c);
  if (surveyJson(body).mostMembers > MOST_MEMBERS) {
    throw invalidInput("", `Send objects of at most ${MOST_MEMBERS} members`);
  }
  const message = parseRoundedJson(body);
  if (Array.isArray(message)) {
    throw invalidInput("", "Send one message a request, as an object");
  }
  const visit = { deps, caller, narrowing, requestId, body };
  const handler = createMcpHandler((asked) => mcpServer(visit, asked.era), {
    // Nothing here changes without a call, so there is nothing to subscribe to.
    maxSubscriptions: 0,
    onerror: (error) => deps.log("warn", "mcp_message_refused", { error: error.name }),
  });
  return await handler.fetch(c.req.raw, { parsedBody: message });
}
