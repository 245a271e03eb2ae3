// Requests that no library under us sends a second time. When a kept-alive connection closes unanswered, `fetch` sends a
// request whose body it still has once more, on another connection, though the server may have acted on the first copy.
// A body that is read while it is sent is gone by then: such a request fails, and whoever made it decides.

/** `fetch` for requests that may change something: what it is given goes out at most once, with its length. */
export function sendOnce(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  return send(input, init, sized);
}

/** The same in chunks, which costs less: for servers that are known to take a body without its length. */
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

/** A stream is read once as it is. */
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
