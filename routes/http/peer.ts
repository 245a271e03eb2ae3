// The other end of the connection that a request came in on.
import type { Connection } from "./env.ts";

/** Null where it has no address, as for `app.request` in tests. The runtime makes it anew each time it is asked. */
export function peerOf(connection: Connection | undefined): Deno.NetAddr | null {
  const address = connection?.remoteAddr;
  return address?.transport === "tcp" ? address : null;
}
