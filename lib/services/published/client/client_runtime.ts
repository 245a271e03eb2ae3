// The part of a generated client that is the same for every database.

/** TypeScript source. `url`: where the endpoints are served. */
export function clientRuntime(url: string): string {
  return `const URL_OF_DATABASE = ${JSON.stringify(url)};

/** A value of a row. Whole numbers beyond 2^53 come as digits, bytes as base64. */
export type Value = string | number | null | { $blob: string };

/** What an input of bytes takes: a file that somebody has chosen, too. */
export type Bytes = Uint8Array | ArrayBuffer | Blob;

export interface Rows<Row extends readonly unknown[], Columns extends readonly string[] = string[]> {
  columns: Columns;
  rows: Row[];
}

/** One page of a list: send nextCursor as cursor, with the same sort, for the next; null: this is the last. */
export type Page<Listed> = Listed & { nextCursor: string | null; total: number | null };

export interface ClientOptions {
  /** Where the endpoints are served, if not where this file came from. */
  url?: string;
  fetch?: typeof fetch;
  /** The session of the user, for endpoints that ask for one. */
  session?: string | null | (() => string | null | undefined);
}

export interface Call {
  signal?: AbortSignal;
  /** What the captcha's widget submits. */
  captcha?: string;
  /** Of a mutation: sent again under the same key it runs once. At least 16 random characters. */
  idempotencyKey?: string;
}

export interface Failure {
  success: false;
  error: string;
  code: string;
  issues?: { path: string; message: string }[];
}

/** An answer that is no success. */
export class EndpointError extends Error {
  readonly status: number;
  readonly failure: Failure;
  readonly headers: Headers;
  /** Seconds after which the same call may be let in; null where the answer tells none. */
  readonly retryAfterSec: number | null;

  constructor(status: number, failure: Failure, headers: Headers = new Headers()) {
    super(failure.error);
    const retryAfter = headers.get("Retry-After");
    this.headers = headers;
    this.retryAfterSec = retryAfter !== null && /^[0-9]+$/.test(retryAfter) ? Number(retryAfter) : null;
    this.name = "EndpointError";
    this.status = status;
    this.failure = failure;
  }
}

function sender(options: ClientOptions) {
  const base = options.url ?? URL_OF_DATABASE;
  return async <Output>(method: "GET" | "POST", slug: string, given: object, call: Call = {}, isBytes = false): Promise<Output> => {
    const input = Object.fromEntries(await Promise.all(Object.entries(given).map(withoutBytes)));
    const session = typeof options.session === "function" ? options.session() : options.session;
    const headers: Record<string, string> = {};
    if (session) headers["Authorization"] = "Bearer " + session;
    if (call.captcha !== undefined) headers["X-Captcha-Token"] = call.captcha;
    if (call.idempotencyKey !== undefined) headers["Idempotency-Key"] = call.idempotencyKey;
    if (method === "POST") headers["Content-Type"] = "application/json";
    const response = await (options.fetch ?? fetch)(base + "/" + slug + (method === "GET" ? queryOf(input) : ""), {
      method,
      headers,
      ...(method === "POST" ? { body: textOf(input) ?? null } : {}),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
    });
    const answer = isBytes && response.ok ? await response.blob() : jsonOf(response, await response.text());
    if (!response.ok) throw new EndpointError(response.status, answer, response.headers);
    return answer;
  };
}

/** What is no JSON has not come from the service, but from something in between. */
function jsonOf(response: Response, text: string) {
  try {
    return JSON.parse(text);
  } catch {
    const error = "The answer of " + response.status + " is no JSON: look at the address and at what is in between";
    throw new EndpointError(response.status, { success: false, error, code: "not_json" }, response.headers);
  }
}

/** Bytes go as base64. JSON would ask a Buffer of Node.js for a form of its own before anybody sees it. */
async function withoutBytes([name, value]: [string, unknown]): Promise<[string, unknown]> {
  if (value instanceof Blob) return [name, base64(new Uint8Array(await value.arrayBuffer()))];
  if (value instanceof ArrayBuffer) return [name, base64(new Uint8Array(value))];
  return [name, value instanceof Uint8Array ? base64(value) : value];
}

/**
 * JSON as the service takes it, at every depth. Numbers beyond 2^53 go with an exponent: as JavaScript writes them they would be
 * taken for whole numbers that were rounded. A BigInt goes as a string of digits there, bytes as base64.
 */
function textOf(value: unknown): string | undefined {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? String(value) : '"' + value + '"';
  const isLarge = typeof value === "number" && Number.isFinite(value) && Math.abs(value) > Number.MAX_SAFE_INTEGER;
  if (isLarge) return value.toExponential();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (value instanceof Uint8Array) return '"' + base64(value) + '"';
  if ("toJSON" in value && typeof value.toJSON === "function") return textOf(value.toJSON());
  if (Array.isArray(value)) return "[" + Array.from(value, (one) => textOf(one) ?? "null").join(",") + "]";
  const members = Object.entries(value).flatMap(([name, member]) => {
    const text = textOf(member);
    return text === undefined ? [] : [JSON.stringify(name) + ":" + text];
  });
  return "{" + members.join(",") + "}";
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

function queryOf(input: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined || value === null) continue;
    query.append(name, typeof value === "object" ? textOf(value) ?? "null" : String(value));
  }
  const text = query.toString();
  return text === "" ? "" : "?" + text;
}
`;
}
