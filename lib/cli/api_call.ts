// One call of the API by the command line.
import { pause } from "../core/pause.ts";

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

/** Seconds after which the gate that counts the requests of an address lets more of them in. */
const MAX_PAUSE_SEC = 15;

/**
 * Calls again where the service had too many requests of this address: such a call has not begun. Throws where no answer of
 * the service comes back: what has become of the call is not known then.
 */
export async function callApi(
  { db, token, fetch }: Api,
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: unknown,
): Promise<ApiBody> {
  for (;;) {
    const response = await fetch(`${db}/${path}`, {
      method,
      headers: { "Authorization": `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = answerIn(await response.text(), response.status);
    const waitSec = Number(response.headers.get("retry-after") ?? Infinity);
    if (answer.code !== "too_many_requests" || !(waitSec <= MAX_PAUSE_SEC)) return answer;
    await pause(waitSec * 1000);
  }
}

function answerIn(text: string, status: number): ApiBody {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`the answer is not from the service (HTTP ${status})`);
  }
}
