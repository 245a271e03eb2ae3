// Calls to Turso's platform API (docs.turso.tech/api-reference). Each call names what is to be there, so that
// a second one changes nothing: a call whose answer is lost is sent again, within bounds.
import type { Log } from "../../core/log.ts";
import type { Fetch } from "../remote/hrana/poster.ts";
import { repeat } from "../remote/hrana/repeat.ts";
import { RemoteFailure } from "../remote/hrana/remote_failure.ts";
import { jsonOf } from "../../core/json_of.ts";

/** Where the platform API answers. */
export const TURSO_API_URL = "https://api.turso.tech";

/** Milliseconds that a call may take with all its repetitions. */
const CALL_TIMEOUT_MS = 10_000;
/** Repetitions, milliseconds before the first of them, and the longest that the platform may make us wait. */
const MAX_RETRIES = 3;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 3000;

/** How to reach the API. */
export interface TursoApiOptions {
  /** Without a trailing slash. */
  readonly apiUrl: string;
  readonly organization: string;
  /** Platform token; null: none is sent. */
  readonly token: string | null;
  readonly log: Log;
  readonly fetch: Fetch;
}

/** One call of the API. */
export interface TursoCall {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Under the organization, with its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

/** The answer of a call. */
export interface TursoAnswer {
  readonly status: number;
  /** What the body is as JSON; null: it is none. */
  readonly body: unknown;
  /** An earlier try, whose answer was lost, may have run. */
  readonly repeated: boolean;
}

/** What came of one try. */
interface TursoResponse {
  /** 0: no answer, or one that breaks off. */
  readonly status: number;
  readonly body: unknown;
  /** How long the platform makes us wait, where it says so. */
  readonly retryAfterMs: number | null;
}

/** A try that may be made once more. */
class Unanswered extends Error {
  constructor(readonly response: TursoResponse) {
    super("no answer");
  }
}

/** A client of the API. */
export class TursoApi {
  constructor(private readonly options: TursoApiOptions) {}

  /** Resolves with any answer below 500 but 429. Throws `RemoteFailure`: `unreachable` where there was none in time. */
  call(call: TursoCall): Promise<TursoAnswer> {
    const deadline = AbortSignal.timeout(call.timeoutMs ?? CALL_TIMEOUT_MS);
    let repeated = false;
    return repeat(async () => {
      const response = await this.#send(call, deadline);
      const { status, body } = response;
      if (status !== 0 && status !== 429 && status < 500) return { status, body, repeated };
      throw new Unanswered(response);
    }, (error, attempt) => {
      if (!(error instanceof Unanswered)) return null;
      const { status, retryAfterMs } = error.response;
      const pauseMs = retryAfterMs ?? FIRST_PAUSE_MS * 3 ** attempt;
      if (attempt >= MAX_RETRIES || deadline.aborted || pauseMs > MAX_PAUSE_MS) {
        this.options.log("warn", "turso_api_failed", { method: call.method, status });
        throw new RemoteFailure("unreachable", "the platform API does not answer");
      }
      repeated ||= status !== 429;
      return pauseMs;
    });
  }

  /** The failure for an answer that is not the wanted one. */
  failure(call: TursoCall, { status }: TursoAnswer): RemoteFailure {
    if (status === 404) return new RemoteFailure("gone");
    if (status === 401 || status === 403) {
      this.options.log("error", "tenants_setting_refused", { variable: "TENANTS_TOKEN", status });
      return new RemoteFailure("denied", `API ${status}`, { code: `${status}` });
    }
    this.options.log("warn", "turso_api_refused", { method: call.method, status });
    return new RemoteFailure(status === 402 ? "over_quota" : "unreachable", `API ${status}`);
  }

  async #send({ method, path, body }: TursoCall, signal: AbortSignal): Promise<TursoResponse> {
    const { apiUrl, organization, token, fetch } = this.options;
    try {
      const response = await fetch(`${apiUrl}/v1/organizations/${organization}${path}`, {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal,
        redirect: "error",
      });
      const after = /^\d{1,6}$/.exec(response.headers.get("retry-after") ?? "");
      const retryAfterMs = after ? Number(after[0]) * 1000 : null;
      return { status: response.status, body: jsonOf(await response.text()) ?? null, retryAfterMs };
    } catch {
      return { status: 0, body: null, retryAfterMs: null };
    }
  }
}
