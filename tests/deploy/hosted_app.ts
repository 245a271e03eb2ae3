// What `startApp()` gives where TEST_HOSTED is set: two instances as Deno Deploy runs them, and each request goes to the
// other one of them. The parts of a process are not within reach.
import { makeTestNamespace, type TestNamespace } from "../testing/test_namespace.ts";
import { type InstanceApi, inTurn } from "./instance_api.ts";
import { stageOn } from "./rehearsal.ts";

export interface HostedApp extends InstanceApi, AsyncDisposable {
  readonly app: never;
  readonly deps: never;
  readonly logLines: readonly string[];
  namespace(slug?: string): Promise<TestNamespace>;
  stop(): Promise<void>;
}

export async function hostedApp(settings: Readonly<Record<string, string>>): Promise<HostedApp> {
  const stage = await stageOn(settings);
  const stop = async () => await stage[Symbol.asyncDispose]();
  const starting = await Promise.allSettled([stage.start(), stage.start()]);
  const instances = starting.flatMap((one) => one.status === "fulfilled" ? [one.value] : []);
  for (const one of starting) {
    if (one.status === "fulfilled") continue;
    await stop();
    throw one.reason;
  }
  const { operatorKey } = stage;
  const { request } = inTurn(operatorKey, instances);
  return {
    get app(): never {
      throw new TypeError("the app is in other processes");
    },
    get deps(): never {
      throw new TypeError("the app is in other processes");
    },
    ...{ operatorKey, request, stop },
    get logLines() {
      return instances.flatMap((instance) => instance.output().split("\n"));
    },
    namespace: (slug) => makeTestNamespace({ request, operatorKey }, slug),
    [Symbol.asyncDispose]: stop,
  };
}
