// Sockets of libSQL clients: the transport. What they mean is in lib/services/hrana/socket_session.ts.
import type { Context } from "hono";
import { bearer } from "../../lib/access/authenticate.ts";
import { andThen } from "../../lib/core/and_then.ts";
import { AppError, invalidInput } from "../../lib/core/errors.ts";
import { MAX_BODY_BYTES } from "../../lib/core/limits.ts";
import { CLOSE_MS, HELLO_MS, SOCKET_PING_SEC, STRANGER_CLOSE_MS } from "../../lib/core/limits_hrana.ts";
import { jsonOf } from "../../lib/core/json_of.ts";
import type { Log } from "../../lib/core/log.ts";
import { unexpectedError } from "../../lib/core/unexpected_error.ts";
import { whatCostsMuch } from "../../lib/guard/parse_json.ts";
import type { DoorContext } from "../../lib/services/hrana/hrana_types.ts";
import type { OpenSocket, OpenSockets, StreamOwner } from "../../lib/services/hrana/open_sockets.ts";
import { SocketSession } from "../../lib/services/hrana/socket_session.ts";
import { type ClientMessage, POLICY } from "../../lib/services/hrana/socket_types.ts";
import type { Env } from "../http/env.ts";
import { isPlainMessage } from "./plain_requests.ts";
import { readWith } from "../middleware/issues.ts";
import { clientMessage, numberedRequest } from "./request_schemas.ts";
import { SocketOutput } from "./socket_output.ts";
import type { DoorAddress, EnterDoor } from "./target.ts";

/** In the order in which they are taken. */
const PROTOCOLS = ["hrana3", "hrana2", "hrana1"];
/** A private code of RFC 6455 for what its 1009 means, and its own code of a server that goes away. */
const TOO_BIG = 4009;
const GOING_AWAY = 1001;

/** What sockets need of the door. */
export interface SocketDoor {
  readonly sockets: OpenSockets;
  readonly enter: EnterDoor;
  readonly log: Log;
}

/**
 * Answers with a socket. The runtime would split an offer only by comma and space, so the protocol is chosen here. Errors:
 * `validation_failed` for what is no handshake of RFC 6455 or offers no protocol that is spoken here, `too_many_requests`,
 * `socket_unavailable` where the service listens itself and the runtime cannot.
 */
export async function openSocket(
  door: SocketDoor,
  c: Context<Env>,
  address: DoorAddress,
): Promise<Response> {
  const offered = (c.req.header("sec-websocket-protocol") ?? "").split(",").map((one) => one.trim());
  const chosen = PROTOCOLS.find((one) => offered.includes(one));
  if (chosen === undefined && offered.some((one) => one !== "")) {
    throw invalidInput("Sec-WebSocket-Protocol", `Offer one of ${PROTOCOLS.join(", ")}`);
  }
  if (c.req.header("sec-websocket-key") === undefined) {
    throw invalidInput("Sec-WebSocket-Key", "Send the handshake of RFC 6455");
  }
  door.sockets.requireRoom();
  let stop = () => {};
  const { socket, response } = await upgrade(c, () => stop());
  if (chosen !== undefined) response.headers.set("sec-websocket-protocol", chosen);
  const { requestId } = c.get("arrival");
  stop = serve(door, socket, { address, requestId });
  return response;
}

/** On a platform its own server has the connection. */
async function upgrade(c: Context<Env>, onStop: () => void): Promise<Deno.WebSocketUpgrade> {
  const options = { idleTimeout: SOCKET_PING_SEC };
  if (c.env?.upgrade === undefined) return Deno.upgradeWebSocket(c.req.raw, options);
  const upgraded = await c.env.upgrade(c.req.raw, options, onStop);
  if (upgraded === null) throw new AppError("socket_unavailable");
  return upgraded;
}

/** Answers what is to be done when the service stops. */
function serve(
  { sockets, enter: enterDoor, log }: SocketDoor,
  socket: WebSocket,
  { address, requestId }: { readonly address: DoorAddress; readonly requestId: string },
): () => void {
  let owner: StreamOwner | null = null;
  let heard = 0;
  const own = (ctx: DoorContext): DoorContext => {
    const { tokenId, target: { namespaceId } } = ctx;
    if (tokenId !== owner?.tokenId) {
      sockets.requireRoomOf(tokenId);
      owner = { namespaceId, tokenId };
    }
    return ctx;
  };
  const enter = (token: string | null) => andThen(enterDoor(token ?? bearer(undefined), address), own);
  const output = new SocketOutput(socket, (characters) => sockets.mayHold(open, characters));
  const end = (code: number, reason: string, closeMs = owner === null ? STRANGER_CLOSE_MS : CLOSE_MS) =>
    void output.end(code, reason, closeMs);
  const session = new SocketSession({
    enter,
    end,
    send: (text) => output.send(text),
    taken: () => output.taken(),
    unexpected: (error) => unexpectedError(log, requestId, error),
    mayHold: (characters) => sockets.mayHold(open, characters),
  });
  const open: OpenSocket = {
    get owner() {
      return owner;
    },
    get held() {
      return session.held + output.unread;
    },
    get heard() {
      return heard;
    },
    end: (reason, closeMs) => {
      session.close();
      end(POLICY, reason, closeMs);
    },
  };
  sockets.add(open);
  const timer = setTimeout(() => {
    if (!session.isKnown) open.end("Send hello first");
  }, HELLO_MS);
  socket.onmessage = ({ data }: MessageEvent) => {
    heard++;
    if (!output.isOpen) return;
    if (typeof data !== "string") return end(POLICY, "Send text; this is JSON");
    if (data.length > MAX_BODY_BYTES) return end(TOO_BIG, "Send a smaller message");
    // A reason has room for 123 bytes.
    if (whatCostsMuch(data) !== null) return end(TOO_BIG, "Send fewer lists, objects and fields");
    session.receive(readMessage(jsonOf(data)), data.length);
  };
  const gone = () => {
    clearTimeout(timer);
    session.close();
    sockets.remove(open);
  };
  socket.onclose = gone;
  socket.onerror = gone;
  return () => session.stop(() => end(GOING_AWAY, "The service stops"));
}

/** Null: it is none of the protocol. */
function readMessage(input: unknown): ClientMessage | null {
  if (isPlainMessage(input)) return input;
  const read = readWith(clientMessage, input);
  if (read.ok) return read.data;
  const numbered = numberedRequest.safeParse(input);
  if (!numbered.success) return null;
  const error = new AppError("validation_failed", { issues: read.issues });
  return { type: "refused", request_id: numbered.data.request_id, error };
}
