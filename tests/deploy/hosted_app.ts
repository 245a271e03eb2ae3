// What `startApp()` gives where TEST_HOSTED names two instances that run as on Deno Deploy: each request goes to the other
// one of them. Many tests share the two, each with namespaces of its own; the parts of a process are not within reach.
import { makeTestNamespace, type TestNamespace } from "../testing/test_namespace.ts";
import { type InstanceApi, inTurn } from "./instance_api.ts";
import type { Instance } from "./rehearsal.ts";

export interface HostedApp extends InstanceApi, AsyncDisposable {
  readonly app: never;
  readonly deps: never;
  readonly logLines: never;
  namespace(slug?: string): Promise<TestNamespace>;
  stop(): Promise<void>;
}

/** The environment by which `hostedApp()` finds the instances. */
export function hostedEnv(operatorKey: string, instances: readonly Instance[]): Record<string, string> {
  return { TEST_HOSTED: instances.map(({ url }) => url).join(" "), TEST_HOSTED_KEY: operatorKey };
}

/** Null where the tests run on an app of their own. */
export function hostedApp(): HostedApp | null {
  const urls = Deno.env.get("TEST_HOSTED")?.split(" ");
  if (urls === undefined) return null;
  const operatorKey = Deno.env.get("TEST_HOSTED_KEY") ?? "";
  const { request } = inTurn(operatorKey, urls.map((url) => ({ url })));
  const outOfReach = (): never => {
    throw new TypeError("the app is in other processes");
  };
  const stop = () => Promise.resolve();
  return {
    get app() {
      return outOfReach();
    },
    get deps() {
      return outOfReach();
    },
    get logLines() {
      return outOfReach();
    },
    ...{ operatorKey, request, stop },
    namespace: (slug = "acme") =>
      makeTestNamespace({ request, operatorKey }, `${slug}-${crypto.randomUUID().slice(0, 8)}`),
    [Symbol.asyncDispose]: stop,
  };
}
