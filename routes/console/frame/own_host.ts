// Which addresses the console answers on: that of BASE_URL, and this machine's own. Anything else may be a name that
// somebody has pointed at this machine to make a browser talk to it.
import type { MiddlewareHandler } from "hono";
import { AppError } from "../../../lib/core/errors.ts";
import type { Env } from "../../http/env.ts";

const LOOPBACK = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d+)?$/i;

/**
 * Errors: `wrong_host` for another host. A page on an address of this machine that is a number is asked for again under
 * `localhost`, because passkeys and their origin need a name.
 */
export function ownHost(baseUrl: string): MiddlewareHandler<Env> {
  const own = new URL(baseUrl).host.toLowerCase();
  return async (c, next) => {
    const url = new URL(c.req.url);
    const host = (c.req.header("host") ?? url.host).toLowerCase();
    const loopback = LOOPBACK.exec(host)?.[1];
    if (host !== own && loopback === undefined) throw new AppError("wrong_host");
    const isPage = c.req.method === "GET" && !url.pathname.startsWith("/console/-/assets/");
    if (isPage && loopback !== undefined && loopback !== "localhost") {
      const port = host.slice(loopback.length);
      return c.redirect(`http://localhost${port}${url.pathname}${url.search}`, 302);
    }
    return await next();
  };
}
