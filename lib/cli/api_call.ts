// One call of the API by the command line.

/** The parts of an answer that the command line reads. */
export interface ApiBody {
  readonly success: boolean;
  readonly data?: unknown;
  readonly meta?: unknown;
  readonly error?: string;
  readonly code?: string;
  readonly [member: string]: unknown;
}

/** The database whose API is called. */
export interface Api {
  /** `http://host/v1/db/<namespace>/<database>`. */
  readonly db: string;
  readonly token: string;
  readonly fetch: typeof fetch;
}

/** Throws where no answer of the service comes back: what has become of the call is not known then. */
export async function callApi(
  { db, token, fetch }: Api,
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: unknown,
): Promise<ApiBody> {
  const response = await fetch(`${db}/${path}`, {
    method,
    headers: { "Authorization": `Bearer ${token}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`the answer is not from the service (HTTP ${response.status})`);
  }
}
