// A door of its own for one database of an sqld: requests that come through it are about that namespace. It works on the
// connection itself, so that who hangs up hangs up on sqld too, which is what stops a statement.
import { openRelay } from "./relay.ts";
import { headerOf } from "./http_wire.ts";

export interface HranaDoorOptions {
  readonly sqldUrl: string;
  readonly namespace: string;
  /** Called for each request; an answer instead of sqld's own, null: sqld's own. */
  readonly refuse: (request: { readonly route: string; readonly bearer: string }) => DoorAnswer | null;
}

export interface DoorAnswer {
  readonly status: number;
  readonly body: string;
}

export interface HranaDoor {
  /** Host and port. */
  readonly host: string;
  /** Cuts off whatever is under way. */
  close(): Promise<void>;
}

export function openHranaDoor({ sqldUrl, namespace, refuse }: HranaDoorOptions): HranaDoor {
  const relay = openRelay(sqldUrl, [`x-namespace-bin: ${btoa(namespace).replace(/=+$/, "")}`]);
  relay.between = ({ route, headers }, go) => {
    const bearer = (headerOf(headers, "authorization") ?? "").replace(/^Bearer /, "");
    const refusal = refuse({ route, bearer });
    if (refusal === null) return go();
    return Promise.resolve({
      first: `HTTP/1.1 ${refusal.status} Refused`,
      headers: ["content-type: application/json"],
      body: new TextEncoder().encode(refusal.body),
    });
  };
  return { host: new URL(relay.url).host, close: async () => await relay[Symbol.asyncDispose]() };
}
