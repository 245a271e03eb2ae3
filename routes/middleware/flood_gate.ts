// Refuses an address that sends too much, before anything is read, looked up or parsed for it.
import type { Context, MiddlewareHandler } from "hono";
import type { AddressKey } from "../../lib/guard/address_key.ts";
import type { Clock } from "../../lib/core/clock.ts";
import { AppError } from "../../lib/core/errors.ts";
import type { Log } from "../../lib/core/log.ts";
import { clientAddress } from "../../lib/guard/client_address.ts";
import type { FloodControl } from "../../lib/guard/flood.ts";
import type { Env } from "../http/env.ts";

/** What this needs of the process. */
export interface FloodGateOptions {
  readonly flood: FloodControl;
  readonly clock: Clock;
  readonly log: Log;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedHops: number;
}

/**
 * Counts the request. Errors: `too_many_requests` with the seconds to wait. The log names the variable: the answer does not, and
 * who is refused may be a server of the operator's own.
 */
export function floodGate({ flood, clock, log, trustedHops }: FloodGateOptions): MiddlewareHandler<Env> {
  return (c, next) => {
    const waitSec = flood.admit(requestAddress(c, trustedHops), clock.monotonicMs());
    if (waitSec === 0) return next();
    log("warn", "address_refused", { variable: "FLOOD_PER_10S" });
    throw new AppError("too_many_requests", { retryAfterSec: waitSec });
  };
}

/** The unit by which the client of a request is counted. */
export function requestAddress(c: Context<Env>, trustedHops: number): AddressKey {
  return clientAddress({
    socketAddress: c.get("arrival").peer?.hostname ?? null,
    forwardedFor: trustedHops > 0 ? c.req.raw.headers.get("x-forwarded-for") : null,
    trustedHops,
  });
}
