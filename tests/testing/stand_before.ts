// A server before another one: hands requests on, unless a test stands between.

/** Answers in place of the other server, or with `go`, what that one answers. */
export type Between = (
  request: { readonly path: string; readonly body: string },
  go: () => Promise<Response>,
) => Promise<Response> | Response;

export interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** Null: everything is handed on. */
  between: Between | null;
}

export function standBefore(target: string): Proxy {
  // The other one is away, or the caller has gone.
  const onError = () => new Response(null, { status: 502 });
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => {}, onError };
  const server = Deno.serve(options, async (request) => {
    const path = new URL(request.url).pathname;
    const body = await request.text();
    const go = async () => {
      const headers = new Headers(request.headers);
      headers.delete("content-length");
      const answer = await fetch(target + path, {
        method: request.method,
        headers,
        ...(body === "" ? {} : { body }),
      });
      // Whole, so that what a test throws away was answered.
      return new Response(await answer.bytes(), { status: answer.status });
    };
    return await (proxy.between === null ? go() : proxy.between({ path, body }, go));
  });
  const proxy: Proxy = {
    url: `http://127.0.0.1:${server.addr.port}`,
    between: null,
    [Symbol.asyncDispose]: async () => {
      proxy.between = null;
      await server.shutdown();
    },
  };
  return proxy;
}

/** The first half of an answer, behind which the connection breaks. */
export async function half(answer: Response): Promise<Response> {
  const bytes = await answer.bytes();
  let sent = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent) controller.error(new Error("broken off"));
      else controller.enqueue(bytes.subarray(0, bytes.length / 2));
      sent = true;
    },
  });
  return new Response(body, { status: answer.status, headers: { "content-type": "application/json" } });
}
