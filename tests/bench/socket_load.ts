// Load on sockets of libSQL's protocol: each has one stream, and sends the next statement when the one before it is answered.

export interface SocketLoadOrder {
  readonly url: string;
  readonly path: string;
  readonly token: string | null;
  readonly statement: unknown;
  readonly connections: number;
  readonly seconds: number;
}

/** What was answered. */
export interface SocketLoadResult {
  readonly perSecond: number;
  readonly requests: number;
}

/** Throws at an answer that is no success. */
export async function socketLoad(order: SocketLoadOrder): Promise<SocketLoadResult> {
  const sockets = await Promise.all(Array.from({ length: order.connections }, () => openStream(order)));
  const startMs = performance.now();
  const counts = await Promise.all(sockets.map((socket) => askUntil(socket, order, startMs)));
  const took = (performance.now() - startMs) / 1000;
  for (const socket of sockets) socket.close();
  const requests = counts.reduce((sum, count) => sum + count, 0);
  return { perSecond: requests / took, requests };
}

function openStream({ url, path, token }: SocketLoadOrder): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace("http:", "ws:") + path, ["hrana2"]);
    socket.onerror = () => reject(new Error("the socket was not opened"));
    socket.onopen = () => {
      socket.send(JSON.stringify({ type: "hello", jwt: token }));
      socket.send(
        JSON.stringify({ type: "request", request_id: 0, request: { type: "open_stream", stream_id: 0 } }),
      );
    };
    socket.onmessage = ({ data }) => {
      if (data.startsWith('{"type":"response_ok"')) resolve(socket);
    };
  });
}

function askUntil(
  socket: WebSocket,
  { statement, seconds }: SocketLoadOrder,
  startMs: number,
): Promise<number> {
  const text = JSON.stringify({
    type: "request",
    request_id: 1,
    request: { type: "execute", stream_id: 0, stmt: statement },
  });
  return new Promise((resolve, reject) => {
    let count = 0;
    socket.onmessage = ({ data }) => {
      if (!data.startsWith('{"type":"response_ok"')) return reject(new Error(data));
      count++;
      if (performance.now() - startMs < seconds * 1000) socket.send(text);
      else resolve(count);
    };
    socket.send(text);
  });
}
