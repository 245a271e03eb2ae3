// Requests to instances, in the form in which tests of the app in one process make them.
import { type ApiAnswer, type ApiRequest, callApi } from "../testing/call_api.ts";
import { makeTestNamespace, type TestNamespace } from "../testing/test_namespace.ts";

export interface InstanceApi {
  readonly operatorKey: string;
  request(method: string, path: string, options?: ApiRequest): Promise<ApiAnswer>;
  namespace(slug: string): Promise<TestNamespace>;
}

/** Each request goes to the next of the instances. */
export function inTurn(operatorKey: string, instances: readonly { readonly url: string }[]): InstanceApi {
  let turn = 0;
  const request: InstanceApi["request"] = (method, path, options) => {
    const { url } = instances[turn++ % instances.length] ?? { url: "" };
    return callApi({ request: (path, init) => fetch(url + path, init) }, method, path, options);
  };
  return { operatorKey, request, namespace: (slug) => makeTestNamespace({ request, operatorKey }, slug) };
}
