// A receiver of webhooks on this machine, which checks what it gets with the standard's own library.
import { Webhook } from "standardwebhooks";

export interface Received {
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly data: {
    readonly archivedAt?: string | null;
    readonly lagSec?: number;
    readonly changes?: readonly { readonly id: string; readonly kinds: readonly string[] }[];
  };
  readonly signatures: number;
}

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** What it answers from now on. */
  answer: (request: Request, at: number) => Response | Promise<Response>;
  /** The secrets by which it verifies. */
  secrets: string[];
  /** Resolves when it has got so many in all. */
  got(count: number): Promise<void>;
}

export function startReceiver(): Receiver {
  const received: Received[] = [];
  const waiting: { readonly count: number; readonly done: () => void }[] = [];
  const receiver = {
    answer: () => new Response(null, { status: 204 }),
    secrets: [] as string[],
  } as Pick<Receiver, "answer" | "secrets">;
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const body = await request.text();
    const headers = Object.fromEntries(request.headers);
    // The library's `verify` looks at the machine's clock, and the service's is turned.
    const at = new Date(Number(headers["webhook-timestamp"]) * 1000);
    for (const secret of receiver.secrets) {
      const signature = new Webhook(secret).sign(headers["webhook-id"] ?? "", at, body);
      if (!headers["webhook-signature"]?.split(" ").includes(signature)) {
        return new Response(null, { status: 401 });
      }
    }
    const { type, data } = JSON.parse(body);
    const signatures = (headers["webhook-signature"] ?? "").split(" ").length;
    received.push({ id: headers["webhook-id"] ?? "", type, body, data, signatures });
    const answer = receiver.answer(request, received.length);
    // Whoever waits for the message may be who lets it be answered.
    for (const { count, done } of waiting) if (received.length >= count) done();
    return await answer;
  });
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${server.addr.port}/hook`,
    received,
    got: (count: number) =>
      new Promise<void>((done) => {
        if (received.length >= count) done();
        else waiting.push({ count, done });
      }),
    [Symbol.asyncDispose]: () => server.shutdown(),
  });
}
