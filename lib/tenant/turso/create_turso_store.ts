// Tenant databases in Turso Cloud.
import type { Clock } from "../../core/clock.ts";
import { type Log, quietLog } from "../../core/log.ts";
import { streamOnce } from "../../core/send_once.ts";
import { DEFAULT_LOG_BYTES } from "../log_buffer.ts";
import type { GateEngine } from "../remote/gate/gate_engine.ts";
import type { Fetch } from "../remote/hrana/hrana_client.ts";
import { RemoteStore } from "../remote/remote_store.ts";
import { TURSO_API_URL, TursoApi } from "./turso_api.ts";
import { TursoPlatform } from "./turso_platform.ts";

/** The settings of the store. */
export interface TursoStoreOptions {
  readonly organization: string;
  /** All databases are in this one, which must be there. */
  readonly group: string;
  /** Platform token that may read, create and delete databases of the group, configure them and mint their tokens. */
  readonly token: string | null;
  /** Without a trailing slash; null: Turso's own. Databases are spoken to by the same scheme. */
  readonly apiUrl: string | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds that one statement may run. */
  readonly queryTimeoutMs: number;
  /** Days that log and audit rows are kept. */
  readonly logDays: number;
  /** Bytes that query log and calls may have in one database. Default: `DEFAULT_LOG_BYTES`. */
  readonly logBytes?: number;
  /** Days that snapshots are kept. */
  readonly snapshotDays: number;
  /** What statements are compiled with before they are sent. Default: what the runtime has. */
  readonly gateEngine?: GateEngine;
  /** Name of the catalogue's database, where another one than the installation's own is wanted. */
  readonly catalogPlace?: string;
  readonly fetch?: Fetch;
}

/** Opens nothing: the first use reaches Turso. */
export function createTursoStore(options: TursoStoreOptions): RemoteStore {
  const { clock, queryTimeoutMs, logDays, snapshotDays, gateEngine = "auto", catalogPlace } = options;
  const { logBytes = DEFAULT_LOG_BYTES } = options;
  const fetch = options.fetch ?? streamOnce;
  const log = quietLog(options.log, clock, ["warn", "error"]);
  return new RemoteStore({
    platform: tursoPlatform({ ...options, log }),
    clock,
    log,
    fetch,
    queryTimeoutMs,
    logDays,
    logBytes,
    snapshotDays,
    gateEngine,
    ...(catalogPlace === undefined ? {} : { catalogPlace }),
  });
}

/** The platform by itself, for who looks after its databases. */
export function tursoPlatform(
  options: Pick<TursoStoreOptions, "organization" | "group" | "token" | "apiUrl" | "clock" | "log" | "fetch">,
): TursoPlatform {
  const { organization, group, token, clock, log } = options;
  const fetch = options.fetch ?? streamOnce;
  const apiUrl = options.apiUrl ?? TURSO_API_URL;
  const api = new TursoApi({ apiUrl, organization, token, log, fetch });
  return new TursoPlatform({
    api,
    group,
    scheme: apiUrl.startsWith("http:") ? "http" : "https",
    clock,
    fetch,
  });
}
