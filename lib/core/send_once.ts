// Requests that no library under us sends a second time. When a kept-alive connection closes unanswered, `fetch` sends a
// request whose body it still has once more, on another connection, though the server may have acted on the first copy.
// A body that is read while it is sent is gone by then: such a request fails, and whoever made it decides.

/** `fetch` for requests that may change something: what it is given goes out at most once. */
export function sendOnce(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const { method = "GET", body = null } = init;
  if (method === "GET" || method === "HEAD") return fetch(input, init);
  return fetch(input, { ...init, body: readOnce(body) });
}

/** The same content with the same length and type; a stream is read once as it is. */
function readOnce(body: BodyInit | null): BodyInit {
  if (body instanceof URLSearchParams) {
    return new Blob([body.toString()], { type: "application/x-www-form-urlencoded;charset=UTF-8" });
  }
  if (typeof body === "string" || ArrayBuffer.isView(body)) return new Blob([body]);
  return body ?? new Blob([]);
}
