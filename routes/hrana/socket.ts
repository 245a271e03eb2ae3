// Sockets of libSQL clients: the transport. What they mean is in lib/services/hrana/socket_session.ts.
import type { Context } from "hono";
import { AppError } from "../../lib/core/errors.ts";
import { MAX_BODY_BYTES } from "../../lib/core/limits.ts";
import { HELLO_MS, MAX_SOCKET_UNREAD, SOCKET_PING_SEC } from "../../lib/core/limits_hrana.ts";
import { parseMessage } from "../../lib/guard/parse_json.ts";
import type { DoorContext } from "../../lib/services/hrana/hrana_types.ts";
import { SocketSession } from "../../lib/services/hrana/socket_session.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { clientMessage } from "./request_schemas.ts";
import { type DoorAddress, enterDoor } from "./target.ts";

/** In the order in which they are taken. */
const PROTOCOLS = ["hrana3", "hrana2", "hrana1"];
/** Private codes of RFC 6455 for what its 1009 and 1008 mean, which only the runtime may send. */
const TOO_BIG = 4009;
const POLICY = 4008;

/** Whether a request asks for a socket. */
export function isUpgrade(c: Context<Env>): boolean {
  return c.req.header("upgrade")?.toLowerCase() === "websocket";
}

/**
 * Answers with a socket. The runtime would split an offer only by comma and space, so the protocol is chosen here. Errors:
 * `validation_failed` for an offer without a protocol that is spoken here, `too_many_requests`, `socket_unavailable` where
 * the service listens itself.
 */
export function openSocket(deps: AppDeps, c: Context<Env>, address: DoorAddress): Response {
  // The runtime's server for a single connection (2.9) ends a socket as soon as it is upgraded.
  if (c.env?.expectLargeAnswer !== undefined) throw new AppError("socket_unavailable");
  const offered = (c.req.header("sec-websocket-protocol") ?? "").split(",").map((one) => one.trim());
  const chosen = PROTOCOLS.find((one) => offered.includes(one));
  if (chosen === undefined && offered.some((one) => one !== "")) {
    throw new AppError("validation_failed", {
      issues: [{ path: "Sec-WebSocket-Protocol", message: `Offer one of ${PROTOCOLS.join(", ")}` }],
    });
  }
  const free = deps.hrana.sockets.open();
  const { socket, response } = Deno.upgradeWebSocket(c.req.raw, { idleTimeout: SOCKET_PING_SEC });
  if (chosen !== undefined) response.headers.set("sec-websocket-protocol", chosen);
  serve(deps, socket, { address, free });
  return response;
}

function serve(
  deps: AppDeps,
  socket: WebSocket,
  { address, free }: { readonly address: DoorAddress; readonly free: () => void },
): void {
  let freeOfToken = () => {};
  let tokenId: string | null = null;
  const enter = async (token: string | null): Promise<DoorContext> => {
    const ctx = await enterDoor(deps, token === null ? undefined : `Bearer ${token}`, address);
    if (ctx.tokenId !== tokenId) {
      freeOfToken();
      freeOfToken = deps.hrana.sockets.openOf(ctx.tokenId);
      tokenId = ctx.tokenId;
    }
    return ctx;
  };
  const end = (code: number, reason: string) => {
    if (socket.readyState === WebSocket.OPEN) socket.close(code, reason);
  };
  const session = new SocketSession({
    enter,
    end,
    send: (text) => {
      if (socket.readyState !== WebSocket.OPEN) return;
      // Who asks without reading would have the answers kept here.
      if (socket.bufferedAmount > MAX_SOCKET_UNREAD) end(POLICY, "Read the answers");
      else socket.send(text);
    },
  });
  const timer = setTimeout(() => {
    if (!session.isKnown) end(POLICY, "Send hello first");
  }, HELLO_MS);
  socket.onmessage = ({ data }: MessageEvent) => {
    if (typeof data !== "string") return end(POLICY, "Send text; this is JSON");
    if (data.length > MAX_BODY_BYTES) return end(TOO_BIG, "Send a smaller message");
    const parsed = clientMessage.safeParse(parseMessage(data));
    session.receive(parsed.success ? parsed.data : null);
  };
  const gone = () => {
    clearTimeout(timer);
    session.close();
    freeOfToken();
    free();
  };
  socket.onclose = gone;
  socket.onerror = gone;
}
