// Which addresses the console answers on: that of BASE_URL, and this machine's own. Anything else may be a name that
// somebody has pointed at this machine to make a browser talk to it.
import type { MiddlewareHandler } from "hono";
import { AppError } from "../../../lib/core/errors.ts";
import { isLoopback } from "../../../lib/core/loopback.ts";
import type { Env } from "../../http/env.ts";

/**
 * Errors: `wrong_host` for another host. A page on an address of this machine that is a number is asked for again under
 * `localhost`, because passkeys and their origin need a name.
 */
export function ownHost(baseUrl: string): MiddlewareHandler<Env> {
  const own = new URL(baseUrl).host.toLowerCase();
  return async (c, next) => {
    const url = new URL(c.req.url);
    const host = (c.req.header("host") ?? url.host).toLowerCase();
    const [, name = "", port = ""] = /^(.*?)(:\d+)?$/.exec(host) ?? [];
    const isHere = isLoopback(name);
    if (host !== own && !isHere) throw new AppError("wrong_host");
    const isPage = c.req.method === "GET" && !url.pathname.startsWith("/console/-/assets/");
    if (isPage && isHere && name !== "localhost") {
      return c.redirect(`http://localhost${port}${url.pathname}${url.search}`, 302);
    }
    return await next();
  };
}
