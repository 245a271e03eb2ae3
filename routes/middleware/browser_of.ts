// What is known about the other end of a request in which somebody signs in.
import type { Context } from "hono";
import type { Browser } from "../../lib/services/people/people_context.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { sessionCookie } from "../http/session_cookie.ts";
import { requestAddress } from "./flood_gate.ts";

/** The address as it is counted, the browser's name for itself, and the session that it had. */
export function browserOf(c: Context<Env>, { config, baseUrl }: AppDeps): Browser {
  const { high, low } = requestAddress(c, config.trustProxy);
  return {
    address: `${high}:${low}`,
    agent: c.req.header("user-agent") ?? null,
    replaced: sessionCookie(c, baseUrl) ?? null,
  };
}
