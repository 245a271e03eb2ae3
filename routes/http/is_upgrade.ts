// Requests that ask for a socket.
import type { Context } from "hono";
import type { Env } from "./env.ts";

/** Whether a request asks for a socket. */
export function isUpgrade(c: Context<Env>): boolean {
  return c.req.header("upgrade")?.toLowerCase() === "websocket";
}
