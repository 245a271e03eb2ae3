// One request to an app and its answer in a form that tests look at: status, headers, body.
import type { ErrorDetail, Issue } from "../../lib/core/errors.ts";
import type { QueryMeta } from "../../lib/query/query_call.ts";

/** An app in this process, or a way to one elsewhere. */
export interface Callable {
  request(path: string, init: RequestInit): Response | Promise<Response>;
}

/** For statements that a test begins with: on sqld each snapshot is a copy of the whole database. */
export const NO_SNAPSHOT: Readonly<Record<string, string>> = { "x-service-no-snapshot": "1" };

export interface ApiRequest {
  readonly token?: string;
  /** A string, bytes or a stream goes out as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ApiBody;
  /** The body's text as it came. */
  readonly text: string;
}

/** The envelope; which members are there is what tests find out. */
export interface ApiBody {
  readonly success: boolean;
  readonly data?: unknown;
  readonly meta?: QueryMeta & { readonly nextCursor: string | null };
  readonly error?: string;
  readonly code?: string;
  readonly errorDetail?: ErrorDetail;
  readonly issues?: readonly Issue[];
  readonly failedIndex?: number;
}

export async function callApi(
  app: Callable,
  method: string,
  path: string,
  { token, body, headers, signal }: ApiRequest = {},
): Promise<ApiAnswer> {
  const response = await app.request(path, {
    method,
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === undefined ? {} : { body: asBody(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? true;
  return {
    ...{ status: response.status, headers: response.headers, text },
    body: asEnvelope(isJson ? text : ""),
  };
}

function asBody(body: unknown): BodyInit {
  if (typeof body === "string" || body instanceof ReadableStream) return body;
  if (body instanceof Uint8Array) return body.slice();
  return JSON.stringify(body);
}

/** Guarantee: none but that it is an object; a test fails where a member it reads is another or missing. */
function asEnvelope(text: string): ApiBody {
  const value: unknown = text === "" ? {} : JSON.parse(text);
  if (typeof value !== "object" || value === null) throw new TypeError("the answer is no object");
  return value as ApiBody;
}
