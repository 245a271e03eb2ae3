// The other end of the connection that a request came in on.
import type { Connection } from "./env.ts";

/** Null for `app.request` in tests, which comes without a connection. */
export function socketAddress(connection: Connection | undefined): string | null {
  const address = connection?.remoteAddr;
  return address?.transport === "tcp" ? address.hostname : null;
}
