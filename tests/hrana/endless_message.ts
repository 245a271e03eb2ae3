// A message that does not end, as no client of JavaScript can send it: in parts (RFC 6455, section 5.4), by hand.
import { assertStringIncludes } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { hello } from "./hrana_socket.ts";

const PART_BYTES = 16 * 1024 * 1024;
/** Two gigabytes of them: nobody who is ended for them gets so far. */
export const ENDLESS_PARTS = 128;
/** Milliseconds between two of them. */
const PART_MS = 100;

/** Says who it is and sends parts until the server ends the socket, or there are no more; `sent`: how many it took. */
export async function endlessMessage(
  url: string,
  token: string,
): Promise<{ readonly socket: Deno.TcpConn; readonly sent: number }> {
  const { host, hostname, port, pathname } = new URL(url);
  const socket = await Deno.connect({ hostname, port: Number(port) });
  const head = `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: hrana3\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  await socket.write(new TextEncoder().encode(head));
  const answer = new Uint8Array(1024);
  const length = await socket.read(answer);
  assertStringIncludes(new TextDecoder().decode(answer.subarray(0, length ?? 0)), " 101 ");
  let isOver = false;
  const over = readAll(socket).then(() => isOver = true);
  let sent = 0;
  try {
    await writeAll(socket, frame(TEXT | END, new TextEncoder().encode(JSON.stringify(hello(token)))));
    await writeAll(socket, frame(TEXT, new Uint8Array(1)));
    const part = frame(0, new Uint8Array(PART_BYTES));
    for (; sent < ENDLESS_PARTS && !isOver; sent++) {
      await writeAll(socket, part);
      await pause(PART_MS);
    }
  } catch {
    // It was ended in the middle of a part.
    await over;
  }
  return { socket, sent };
}

const [TEXT, END] = [0x1, 0x80];

/** A frame of a client, masked by zeros, which leave everything as it is. */
function frame(first: number, payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(14 + payload.length);
  frame.set([first, 0x80 | 127]);
  new DataView(frame.buffer).setBigUint64(2, BigInt(payload.length));
  frame.set(payload, 14);
  return frame;
}

async function writeAll(socket: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await socket.write(bytes.subarray(at));
}

/** Until the other end has closed it. */
async function readAll(socket: Deno.TcpConn): Promise<void> {
  const buffer = new Uint8Array(1024);
  try {
    while (await socket.read(buffer) !== null);
  } catch {
    // Reset, or closed here.
  }
}
