// Refuses a Host that is none (RFC 9112, section 3.2). The runtime writes it into the address of the request as it came: one
// with a slash would be the beginning of another path than the one that proxies saw, and one with a space no address at all.
import type { MiddlewareHandler } from "hono";
import { AppError, invalidInput } from "../../lib/core/errors.ts";
import type { Env } from "../http/env.ts";

/** What ends the host in an address, or stands before it. */
const NO_HOST = /[/\\?#@]/;

/** Errors: `validation_failed`. */
export function soundHost(): MiddlewareHandler<Env> {
  // Most requests come with the same one.
  let sound: string | null = null;
  return (c, next) => {
    const host = c.req.raw.headers.get("host");
    if (host !== sound && host !== null) {
      if (NO_HOST.test(host) || !URL.canParse(`http://${host}/`)) throw refused();
      sound = host;
    }
    return next();
  };
}

function refused(): AppError {
  return invalidInput("Host", "Send the name or the address of this service, and its port where it has one");
}
