// What a refused bearer is told: where clients that can ask a person find out how to get one.
import type { MiddlewareHandler } from "hono";
import { AppError } from "../../lib/core/errors.ts";
import { bearerChallenge } from "../../lib/services/oauth/metadata.ts";
import type { Env } from "../http/env.ts";

/** Adds the header to every 401. */
export function challenging({ baseUrl }: { readonly baseUrl: string }): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next();
    if (c.res.status !== 401) return;
    const host = c.req.header("host") ?? new URL(c.req.url).host;
    const invalid = !(c.error instanceof AppError && c.error.code === "missing_bearer");
    c.res.headers.set("WWW-Authenticate", bearerChallenge({ baseUrl, host }, { invalid }));
  };
}
