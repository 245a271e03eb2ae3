// An app with a database that has webhooks, and a receiver.
import { pause } from "../../lib/core/pause.ts";
import { assertEquals } from "@std/assert";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const PATH = "/api/namespaces/acme/databases/main/webhooks";

export interface HookWorld extends AsyncDisposable {
  readonly app: StartedApp;
  readonly tenant: TestNamespace;
  readonly receiver: Receiver;
  /** Puts the clock forward and has what is due delivered. */
  later(ms: number): void;
  call(method: string, path?: string, body?: object): Promise<{ status: number; code?: string; data: Shown }>;
  add(more?: object): Promise<{ id: string; secret: string }>;
  /** The webhook as the API shows it, as soon as it is so. */
  until(isSo: (shown: Shown, all: readonly Shown[]) => boolean): Promise<Shown>;
}

export interface Shown {
  readonly id: string;
  readonly secret: string;
  readonly state: string;
  readonly tries: number;
  readonly status: number | null;
  readonly failure: string | null;
  readonly deliveries: readonly { readonly status: number | null; readonly failure: string | null }[];
}

export async function hookWorld(
  settings: Record<string, string> = { WEBHOOKS_PRIVATE: "1" },
): Promise<HookWorld> {
  const clock = new TurnableClock();
  const app = await startApp({ settings, clock });
  const tenant = await app.namespace();
  const receiver = startReceiver();
  const { deliverer } = app.deps.webhooks;
  await deliverer.start();
  await tenant.setup("CREATE TABLE a (id INTEGER PRIMARY KEY)");
  const call: HookWorld["call"] = async (method, path = "", body) => {
    const answer = await app.request(method, `${PATH}${path}`, {
      token: tenant.token,
      ...(body ? { body } : {}),
    });
    return { status: answer.status, ...JSON.parse(answer.text) };
  };
  return {
    ...{ app, tenant, receiver, call },
    later: (ms) => {
      clock.turn(ms);
      deliverer.changed(tenant.database.id);
    },
    add: async (more = {}) => {
      const added = await call("POST", "", { url: receiver.url, events: ["change"], ...more });
      assertEquals(added.status, 201, JSON.stringify(added));
      receiver.secrets = [added.data.secret];
      return added.data;
    },
    until: async (isSo) => {
      for (;;) {
        const list = await app.request("GET", PATH, { token: tenant.token });
        const all: Shown[] = JSON.parse(list.text).data;
        const [shown] = all;
        if (shown && isSo(shown, all)) return shown;
        await pause(5);
      }
    },
    [Symbol.asyncDispose]: async () => {
      await deliverer.stop();
      app.deps.changes.stop();
      await app.stop();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

/** The numbers of the changes in messages. */
export function seqsIn(received: Receiver["received"]): number[] {
  return received.flatMap(({ data }) => (data.changes ?? []).map(({ id }) => Number(id.split("-")[1])));
}
