// Sends requests that no library below sends a second time. When an idle connection closes without an answer, `fetch`
// sends a request whose body it still has again on another connection, although the server may have acted on the first.
// A body that is read while it is sent is gone then: such a request fails, and its caller decides.

/** `fetch` for requests that may change something. The body goes out at most once, with its length. */
export function sendOnce(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  return send(input, init, sized);
}

/** The same in chunks, which is cheaper: for servers known to take a body without its length. */
export function streamOnce(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  return send(input, init, streamed);
}

function send(
  input: string | URL | Request,
  init: RequestInit,
  readOnce: (body: BodyInit | null) => BodyInit,
): Promise<Response> {
  const { method = "GET", body = null } = init;
  return method === "GET" || method === "HEAD"
    ? fetch(input, init)
    : fetch(input, { ...init, body: readOnce(body) });
}

/** A body with a length that can be read only once. A stream is that already. */
function sized(body: BodyInit | null): BodyInit {
  if (body instanceof URLSearchParams) {
    return new Blob([body.toString()], { type: "application/x-www-form-urlencoded;charset=UTF-8" });
  }
  if (typeof body === "string" || ArrayBuffer.isView(body)) return new Blob([body]);
  return body ?? new Blob([]);
}

function streamed(body: BodyInit | null): BodyInit {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  if (!(bytes instanceof Uint8Array)) return sized(body);
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}
