// Turso Cloud as a platform: a database of one group for each location, made, copied and removed through its platform API,
// with tokens of one database and one mode.
import { type Clock, MINUTE_MS } from "../../core/clock.ts";
import { type HranaEndpoint, sendBatch } from "../remote/hrana/hrana_client.ts";
import { type Fetch, fetchPoster } from "../remote/hrana/poster.ts";
import { CachedTokens } from "../remote/server/cached_tokens.ts";
import type { Mode } from "../remote/server/remote_context.ts";
import { repeat } from "../remote/hrana/repeat.ts";
import { RemoteFailure } from "../remote/hrana/remote_failure.ts";
import type { RemotePlatform } from "../remote/server/remote_platform.ts";
import type { TursoApi, TursoCall } from "./turso_api.ts";
import { putNewest } from "../../core/put_newest.ts";

/** How long a token is to last, and milliseconds that one is used before the next is made. */
const TOKEN_EXPIRATION = "30m";
const TOKEN_USED_MS = 20 * MINUTE_MS;
/** Milliseconds for making a database, which copies the seed, and then until it must answer. */
const MAKE_TIMEOUT_MS = 60_000;
const READY_TIMEOUT_MS = 30_000;
/** Milliseconds between two questions whether a new database answers: the first, and the longest. */
const READY_PAUSE_MS = 50;
const MAX_READY_PAUSE_MS = 1000;
/** Addresses cached at most; the oldest go. */
const MAX_HOSTS = 2000;
/** Characters of a name: older accounts take no more, and with the organization's it becomes one label of a host name. */
const MAX_NAME = 32;
/** Characters of the id that the location of a copy ends in. */
const ID_LENGTH = 26;

/** What the platform needs. */
export interface TursoPlatformOptions {
  readonly api: TursoApi;
  readonly group: string;
  /** How databases are spoken to: as the platform API is. */
  readonly scheme: "http" | "https";
  readonly clock: Clock;
  readonly fetch: Fetch;
}

/** Databases in one group. */
export class TursoPlatform implements RemotePlatform {
  readonly dataSecret = "TENANTS_TOKEN";
  readonly #tokens: CachedTokens;
  readonly #hosts = new Map<string, Promise<string>>();

  constructor(private readonly options: TursoPlatformOptions) {
    this.#tokens = new CachedTokens({
      clock: options.clock,
      usedMs: TOKEN_USED_MS,
      make: (location, mode) => this.#makeToken(location, mode),
    });
  }

  async endpoint(location: string, mode: Mode): Promise<HranaEndpoint> {
    const [host, token] = await Promise.all([this.#host(location), this.#tokens.token(location, mode)]);
    return { url: `${this.options.scheme}://${host}`, headers: { authorization: `Bearer ${token}` } };
  }

  /** All tokens of a database may have been revoked at once; the next one is good again. */
  refused(location: string, mode: Mode, { headers }: HranaEndpoint): boolean {
    this.#tokens.forget(location, mode, (headers["authorization"] ?? "").slice("Bearer ".length));
    return true;
  }

  create(location: string): Promise<void> {
    return this.#make(location, null);
  }

  fork(from: string, to: string): Promise<void> {
    return this.#make(to, nameOf(from));
  }

  async remove(location: string, timeoutMs: number): Promise<void> {
    const call: TursoCall = { method: "DELETE", path: `/databases/${nameOf(location)}`, timeoutMs };
    const answer = await this.options.api.call(call);
    if (answer.status !== 200 && answer.status !== 404) throw this.options.api.failure(call, answer);
    this.#hosts.delete(location);
  }

  async block(
    location: string,
    { reads, writes }: { readonly reads: boolean; readonly writes: boolean },
  ): Promise<void> {
    const path = `/databases/${nameOf(location)}/configuration`;
    const call: TursoCall = { method: "PATCH", path, body: { block_reads: reads, block_writes: writes } };
    const answer = await this.options.api.call(call);
    if (answer.status !== 200) throw this.options.api.failure(call, answer);
  }

  /** A name is never used for two databases, so one that is there already is the one that was wanted. */
  async #make(location: string, seed: string | null): Promise<void> {
    const { api, group } = this.options;
    const from = seed === null ? {} : { seed: { type: "database", name: seed } };
    const body = { name: nameOf(location), group, ...from };
    const call: TursoCall = { method: "POST", path: "/databases", body, timeoutMs: MAKE_TIMEOUT_MS };
    const answer = await api.call(call);
    // A copy that is there already may be an older one, unless this call has begun it.
    const there = answer.status === 409 && (seed === null || answer.repeated);
    if (answer.status !== 200 && !there) throw api.failure(call, answer);
    if (answer.status === 200) this.#cacheHost(location, Promise.resolve(hostOf(answer.body)));
    await this.#untilReady(location);
  }

  /** A new database may take a moment until the platform itself knows it, its name resolves and it answers. */
  async #untilReady(location: string): Promise<void> {
    const signal = AbortSignal.timeout(READY_TIMEOUT_MS);
    const request = { steps: [{ stmt: { sql: "SELECT 1" } }], baton: null, close: true };
    let endpoint: HranaEndpoint | null = null;
    const ask = async () => {
      endpoint = null;
      endpoint = await this.endpoint(location, "read");
      await sendBatch(fetchPoster(this.options.fetch), endpoint, request, { signal });
    };
    await repeat(ask, (error, attempt) => {
      // A copy of a closed database may be closed as well.
      if (!(error instanceof RemoteFailure) || error.reason === "blocked") return null;
      if (signal.aborted) throw new RemoteFailure("unreachable", "a new database does not answer");
      // A platform that refuses for another reason does not refuse because the database is new.
      if (endpoint === null && error.reason !== "gone") return null;
      if (endpoint !== null && error.reason === "denied") this.refused(location, "read", endpoint);
      return Math.min(READY_PAUSE_MS * 2 ** attempt, MAX_READY_PAUSE_MS);
    }).catch((error) => {
      if (!(error instanceof RemoteFailure && error.reason === "blocked")) throw error;
    });
  }

  /** Where its database answers, as the platform says: its name does not tell the region. */
  #host(location: string): Promise<string> {
    return this.#hosts.get(location) ?? this.#cacheHost(location, this.#findHost(location));
  }

  #cacheHost(location: string, found: Promise<string>): Promise<string> {
    putNewest(this.#hosts, location, found, MAX_HOSTS);
    found.catch(() => {
      if (this.#hosts.get(location) === found) this.#hosts.delete(location);
    });
    return found;
  }

  async #findHost(location: string): Promise<string> {
    const call: TursoCall = { method: "GET", path: `/databases/${nameOf(location)}` };
    const answer = await this.options.api.call(call);
    if (answer.status !== 200) throw this.options.api.failure(call, answer);
    return hostOf(answer.body);
  }

  async #makeToken(location: string, mode: Mode): Promise<string> {
    const authorization = mode === "read" ? "read-only" : "full-access";
    const path = `/databases/${
      nameOf(location)
    }/auth/tokens?expiration=${TOKEN_EXPIRATION}&authorization=${authorization}`;
    const call: TursoCall = { method: "POST", path };
    const answer = await this.options.api.call(call);
    if (answer.status !== 200) throw this.options.api.failure(call, answer);
    const jwt = memberOf(answer.body, "jwt");
    if (typeof jwt === "string" && /^[\w.-]+$/.test(jwt)) return jwt;
    throw new RemoteFailure("unreachable", "the platform API gave no token");
  }
}

/** Locations of copies are longer than a name may be; the id that they end in is theirs alone. */
function nameOf(location: string): string {
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(location)) throw new TypeError("not the name of a location");
  return location.length <= MAX_NAME ? location : `copy-${location.slice(-ID_LENGTH)}`;
}

function hostOf(body: unknown): string {
  const host = memberOf(memberOf(body, "database"), "Hostname");
  if (typeof host === "string" && /^[a-z0-9.-]{1,253}(:\d{1,5})?$/i.test(host)) return host;
  throw new RemoteFailure("unreachable", "the platform API gave no host name");
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : null;
}
