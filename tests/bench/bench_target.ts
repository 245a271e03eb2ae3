// What is measured: a running server that can be told SQL in its own dialect of HTTP.

export interface BenchStatement {
  readonly sql: string;
  readonly params: readonly (string | number)[];
}

/** A request ready to be sent, but for the server's address. */
export interface BenchRequest {
  /** POST unless given. */
  readonly method?: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Not sent with a GET. */
  readonly body: string;
}

export interface BenchTarget {
  readonly name: "bare" | "service" | "against" | "sqld" | "fastify" | "pocketbase";
  /** What a reader has to know about it, in a few words. */
  readonly note: string;
  readonly url: string;
  /** Of the process that the others descend from. */
  readonly pid: number;
  /** Cases that it has calls for; absent: all. */
  readonly cases?: readonly string[];
  /** Makes and fills the tables where statements cannot. */
  fill?(): Promise<void>;
  query(statement: BenchStatement): BenchRequest;
  /** All of them in one transaction. */
  transaction(statements: readonly BenchStatement[]): BenchRequest;
  /** One statement many times in one transaction, where the server has a call of its own for it. */
  many?(sql: string, paramSets: readonly BenchStatement["params"][]): BenchRequest;
  stop(): Promise<void>;
}

/** Milliseconds after which a server counts as stuck. */
const ANSWER_MS = 30_000;

/** Sends one request and throws when the answer is not a success: a benchmark of errors would look fast. */
export async function sendOnce(
  target: Pick<BenchTarget, "name" | "url">,
  request: BenchRequest,
): Promise<void> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const response = await fetch(target.url + request.path, { ...fetchOptions(request), signal });
  const text = await response.text();
  if (!response.ok || text.includes('"type":"error"')) {
    throw new Error(`${target.name} answered ${response.status}: ${text.slice(0, 300)}`);
  }
}

/** The request as `fetch` takes it. */
export function fetchOptions({ method = "POST", headers, body }: BenchRequest): RequestInit {
  return method === "GET" ? { headers } : { method, headers, body };
}
