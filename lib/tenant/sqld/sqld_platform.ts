// sqld as a platform: a namespace for each location, made, copied and removed through its admin API.
import type { Log } from "../../core/log.ts";
import type { HranaEndpoint } from "../remote/hrana/hrana_client.ts";
import { type Fetch, fetchPoster } from "../remote/hrana/poster.ts";
import { repeat, retryGone } from "../remote/hrana/repeat.ts";
import { isLost, RemoteFailure, serverFailure } from "../remote/hrana/remote_failure.ts";
import { within } from "../remote/hrana/within.ts";
import type { RemotePlatform } from "../remote/server/remote_platform.ts";
import { type CopyState, copyState, hasAllOf } from "./copy_state.ts";
import type { DataTokens } from "./data_tokens.ts";

/** What the platform needs. */
export interface SqldPlatformOptions {
  /** Where Hrana answers, and where the admin API does; without trailing slashes. */
  readonly url: string;
  readonly adminUrl: string;
  /** sqld's `--admin-auth-key`. */
  readonly adminToken: string | null;
  /** Null: an sqld that only this service can reach. */
  readonly tokens: DataTokens | null;
  readonly fetch: Fetch;
  readonly log: Log;
}

/** Milliseconds that an admin call may take. */
const ADMIN_TIMEOUT_MS = 15_000;
/** Those for a question that nobody waits for long. */
const STRAIN_TIMEOUT_MS = 2000;
/** Milliseconds until another copy is tried, and those of the last try: copies take the longer the larger the database is. */
const FORK_PATIENCE_MS = [15_000, 30_000];
const LAST_PATIENCE_MS = 110_000;
/** Times that a call which may run twice is repeated, and milliseconds before the first repetition. */
const MAX_RETRIES = 3;
const RETRY_PAUSE_MS = 20;

interface AdminAnswer {
  readonly status: number;
  readonly text: string;
}

/** Namespaces of one server. */
export class SqldPlatform implements RemotePlatform {
  readonly dataSecret = "TENANTS_JWT_KEY";
  readonly copyTries = FORK_PATIENCE_MS.length + 1;
  readonly #closing = new AbortController();

  constructor(private readonly options: SqldPlatformOptions) {}

  endpoint(location: string, mode: "read" | "write"): HranaEndpoint | Promise<HranaEndpoint> {
    const { url, tokens } = this.options;
    const headers = { "x-namespace-bin": btoa(checked(location)).replace(/=+$/, "") };
    if (tokens === null) return { url, headers };
    return tokens.token(location, mode).then((token) => ({
      url,
      headers: { ...headers, authorization: `Bearer ${token}` },
    }));
  }

  /** A token of the right key is refused only where the server's clock is another than ours. */
  refused(
    _place: string,
    _mode: "read" | "write",
    _endpoint: HranaEndpoint,
    expiredMs: number | null,
  ): boolean {
    return this.#follows(expiredMs);
  }

  #follows(expiredMs: number | null): boolean {
    const { tokens } = this.options;
    if (tokens === null || expiredMs === null) return false;
    tokens.follow(expiredMs);
    return true;
  }

  async create(location: string): Promise<void> {
    const path = `/${checked(location)}/create`;
    const answer = await this.#adminAgain("POST", path, { body: {}, timeoutMs: ADMIN_TIMEOUT_MS });
    const isThere = answer.status === 400 && answer.text.includes("already exists");
    if (answer.status !== 200 && !isThere) throw adminFailure(answer);
  }

  /**
   * sqld loses a fork now and then: it never answers, says that there is no such namespace, or leaves out what was
   * written last. The next one works. None is hung up on: sqld then takes back what it has made of the fork, and that
   * beside the end of any fork, also of this one, it never answers anybody again.
   */
  async fork(from: string, to: string, attempt = 0): Promise<void> {
    const before = await this.#state(from);
    try {
      await this.#fork(from, to, FORK_PATIENCE_MS[attempt] ?? LAST_PATIENCE_MS);
      const copied = before && await this.#state(to);
      if (!before || !copied || hasAllOf(copied, before)) return;
    } catch (error) {
      if (!isLost(error)) throw error;
      throw new RemoteFailure("unreachable", "what was there a moment ago is not lost, but its copy is");
    }
    throw new RemoteFailure("unreachable", "the copy lacks what was written last");
  }

  async #fork(from: string, to: string, patienceMs: number): Promise<void> {
    const path = `/${checked(from)}/fork/${checked(to)}`;
    const sent = this.#send("POST", path, { signal: this.#closing.signal });
    const answer = answered(await within(patienceMs, sent));
    if (answer.status !== 200) throw adminFailure(answer);
  }

  async #state(location: string): Promise<CopyState | null> {
    const ask = async () =>
      await copyState(fetchPoster(this.options.fetch), await this.endpoint(location, "read"));
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof RemoteFailure) || !this.#follows(error.more.expiredMs ?? null)) throw error;
      return await ask();
    }
  }

  async remove(location: string, timeoutMs: number): Promise<void> {
    const answer = await this.#adminAgain("DELETE", `/${checked(location)}`, { timeoutMs });
    if (answer.status !== 200 && answer.status !== 404) throw adminFailure(answer);
  }

  close(): void {
    this.#closing.abort();
  }

  async block(
    location: string,
    { reads, writes }: { readonly reads: boolean; readonly writes: boolean },
  ): Promise<void> {
    const body = { block_reads: reads, block_writes: writes };
    await retryGone(async () => {
      const signal = AbortSignal.timeout(ADMIN_TIMEOUT_MS);
      const path = `/${checked(location)}/config`;
      // Sent once: a repetition could be late, and undo what somebody else has done since.
      const answer = answered(await this.#send("POST", path, { body, signal }));
      if (answer.status !== 200) throw adminFailure(answer);
    });
  }

  async strain(location: string): Promise<"admin_refused" | "admin_unreachable" | null> {
    const signal = AbortSignal.timeout(STRAIN_TIMEOUT_MS);
    const answer = await this.#send("GET", `/${checked(location)}/config`, { signal });
    if (answer === null || answer.status >= 500) return "admin_unreachable";
    return isRefusal(answer.status) ? "admin_refused" : null;
  }

  /** What may run twice is sent again where it failed or its answer was lost. Throws `RemoteFailure`: no answer below 500. */
  #adminAgain(
    method: string,
    path: string,
    { body, timeoutMs }: { readonly body?: unknown; readonly timeoutMs: number },
  ): Promise<AdminAnswer> {
    const signal = AbortSignal.timeout(timeoutMs);
    return repeat(async () => {
      const answer = answered(await this.#send(method, path, { body, signal }));
      if (answer.status >= 500) throw adminFailure(answer);
      return answer;
    }, (_, attempt) => attempt < MAX_RETRIES && !signal.aborted ? RETRY_PAUSE_MS * 4 ** attempt : null);
  }

  /** Null: no answer, or one that breaks off. */
  async #send(
    method: string,
    path: string,
    { body, signal }: { readonly body?: unknown; readonly signal: AbortSignal },
  ): Promise<AdminAnswer | null> {
    const { adminUrl, adminToken, fetch } = this.options;
    try {
      const response = await fetch(`${adminUrl}/v1/namespaces${path}`, {
        method,
        headers: {
          "content-type": "application/json",
          ...(adminToken === null ? {} : { authorization: `basic ${adminToken}` }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal,
        redirect: "error",
      });
      const { status } = response;
      if (isRefusal(status)) {
        this.options.log("error", "tenants_setting_refused", { variable: "TENANTS_TOKEN", status });
      }
      return { status, text: await response.text() };
    } catch {
      return null;
    }
  }
}

function answered(answer: AdminAnswer | null): AdminAnswer {
  if (answer === null) throw new RemoteFailure("unreachable", "the admin API does not answer");
  return answer;
}

/** sqld itself accepts names with slashes and dots. */
function checked(location: string): string {
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(location)) throw new TypeError("not the name of a location");
  return location;
}

function isRefusal(status: number): boolean {
  return status === 401 || status === 403;
}

function adminFailure({ status, text }: AdminAnswer): RemoteFailure {
  if (status === 404) return new RemoteFailure("gone");
  return isRefusal(status) ? new RemoteFailure("denied") : serverFailure(status, text);
}
