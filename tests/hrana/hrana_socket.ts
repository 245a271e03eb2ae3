// A socket of libSQL's protocol, as tests use it.

/** A socket with its messages in the order in which they came. */
export interface HranaSocket {
  readonly socket: WebSocket;
  /** The code with which it closes. */
  readonly closed: Promise<number>;
  /** Text as it is, anything else as JSON. */
  send(message: unknown): void;
  /** Rejects where the socket closes without another. */
  next(): Promise<unknown>;
}

/** Rejects where the handshake fails. */
export async function openSocket(url: string, protocols: string[] = ["hrana3"]): Promise<HranaSocket> {
  const socket = new WebSocket(url, protocols);
  const messages: unknown[] = [];
  const waiting: PromiseWithResolvers<unknown>[] = [];
  const closed = Promise.withResolvers<number>();
  socket.onmessage = ({ data }) => {
    const take = waiting.shift();
    if (take) take.resolve(JSON.parse(data));
    else messages.push(JSON.parse(data));
  };
  socket.onclose = ({ code }) => {
    closed.resolve(code);
    for (const one of waiting) one.reject(new Error(`closed: ${code}`));
  };
  const opened = Promise.withResolvers<void>();
  socket.onopen = () => opened.resolve();
  socket.onerror = () => opened.reject(new Error("not opened"));
  await opened.promise;
  return {
    socket,
    closed: closed.promise,
    send: (message: unknown) => socket.send(typeof message === "string" ? message : JSON.stringify(message)),
    next: () => {
      const next = Promise.withResolvers<unknown>();
      if (messages.length > 0) next.resolve(messages.shift());
      else waiting.push(next);
      return next.promise;
    },
  };
}

export const hello = (jwt: string): unknown => ({ type: "hello", jwt });

export const request = (request_id: number, request: unknown): unknown => ({
  type: "request",
  request_id,
  request,
});

export const ok = (request_id: number, response: unknown): unknown => ({
  type: "response_ok",
  request_id,
  response,
});

export const execute = (id: number, sql: string): unknown =>
  request(id, { type: "execute", stream_id: 1, stmt: { sql } });
