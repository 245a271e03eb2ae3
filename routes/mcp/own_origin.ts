// Which web pages may call /mcp: those of this service and of the origins that the operator lists. A client that is no
// page sends no Origin and passes.
import type { Context, MiddlewareHandler } from "hono";
import { isOwnOrigin } from "../../lib/access/authenticate_session.ts";
import type { Config } from "../../lib/config.ts";
import { AppError } from "../../lib/core/errors.ts";
import type { Env } from "../http/env.ts";

/** What this needs of the process. */
export interface OriginContext {
  readonly config: Pick<Config, "mcpOrigins">;
  readonly baseUrl: string;
}

/** Seconds for which a browser need not ask again. */
const PREFLIGHT_SEC = "600";
/** What a page may send and read beside what every page may. */
const SENT = "authorization, content-type, mcp-method, mcp-name, mcp-protocol-version";
const SHOWN = "retry-after, www-authenticate, x-request-id";

/**
 * Refuses pages of other origins, also where their name leads to this machine: the Host that was asked says nothing.
 * Answers the question that a browser asks before a page's call. Errors: `origin_refused`.
 */
export function ownOrigin(ctx: OriginContext): MiddlewareHandler<Env> {
  return async (c, next) => {
    const origin = c.req.header("origin");
    if (origin === undefined) return await next();
    if (!isAllowed(ctx, c, origin)) throw new AppError("origin_refused");
    if (c.req.method === "OPTIONS") return preflight(origin);
    await next();
    c.res.headers.set("Access-Control-Allow-Origin", origin);
    c.res.headers.set("Access-Control-Expose-Headers", SHOWN);
    c.res.headers.append("Vary", "Origin");
  };
}

function isAllowed({ config, baseUrl }: OriginContext, c: Context<Env>, origin: string): boolean {
  if (config.mcpOrigins?.includes(origin)) return true;
  return isOwnOrigin(origin, { baseUrl, host: new URL(c.req.url).host });
}

function preflight(origin: string): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Allow-Methods": "POST",
      "Access-Control-Allow-Headers": SENT,
      "Access-Control-Max-Age": PREFLIGHT_SEC,
      "Vary": "Origin",
    },
  });
}
