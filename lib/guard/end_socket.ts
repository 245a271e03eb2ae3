// Ends a socket whose other end does not take part: `close()` waits for its word, and `idleTimeout` for its pong behind
// everything that it has not read.
import { findResourceFunctions } from "./resource_functions.ts";

/** The name of a socket among the resources of the runtime, and of the member that has its number (2.9). */
const SOCKET = "serverWebSocket";
const NUMBER = "[[rid]]";

/**
 * Ends it at once; its `close` event follows. What it has not read must be nothing: the runtime keeps the connection until
 * that is written. False where this runtime cannot.
 */
export function endSocket(socket: WebSocket): boolean {
  const functions = findResourceFunctions();
  const key = Object.getOwnPropertySymbols(socket).find(({ description }) => description === NUMBER);
  const resource: unknown = key && Reflect.get(socket, key);
  if (functions === null || typeof resource !== "number") return false;
  if (functions.resources()[resource] !== SOCKET) return false;
  functions.close(resource);
  return true;
}
