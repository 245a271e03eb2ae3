// Tenant databases in sqld, the self-hosted libSQL server.
import type { Clock } from "../../core/clock.ts";
import { type Log, quietLog } from "../../core/log.ts";
import { streamOnce } from "../../core/send_once.ts";
import { DEFAULT_LOG_BYTES } from "../log_buffer.ts";
import type { GateEngine } from "../remote/gate/gate_engine.ts";
import type { Fetch } from "../remote/hrana/hrana_client.ts";
import { StreamPool } from "../remote/hrana/stream_pool.ts";
import { RemoteStore } from "../remote/remote_store.ts";
import { DataTokens } from "./data_tokens.ts";
import { SqldPlatform } from "./sqld_platform.ts";

/** The settings of the store. */
export interface SqldStoreOptions {
  /** Where Hrana over HTTP answers, and where the admin API does. */
  readonly url: string;
  readonly adminUrl: string;
  /** sqld's `--admin-auth-key`; null: it has none. */
  readonly adminToken: string | null;
  /** Ed25519 private key (PKCS #8 PEM) whose public half sqld was given; null: no data token is sent. */
  readonly jwtKeyPem: string | null;
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
  /** Places that sqld can have open: five files each. Default: as many as there are. */
  readonly tenantsOpenMax?: number;
  /** What statements are compiled with before they are sent. Default: what the runtime has. */
  readonly gateEngine?: GateEngine;
  readonly fetch?: Fetch;
}

/** Reads at a time: it answers no more of them in a second by more at once, and each endless one takes a thread. */
const READS_AT_ONCE = 16;
/** Streams kept open: sqld has 128 connections for everybody, and up to 15 processes work on it. */
const KEPT_STREAMS = 8;

/** Opens nothing: the first use reaches sqld, which must run with namespaces and without a default namespace. */
export function createSqldStore(options: SqldStoreOptions): RemoteStore {
  const { url, adminUrl, adminToken, jwtKeyPem, clock } = options;
  const { queryTimeoutMs, logDays, logBytes = DEFAULT_LOG_BYTES, snapshotDays, gateEngine = "auto" } =
    options;
  const fetch = options.fetch ?? streamOnce;
  const tokens = jwtKeyPem === null ? null : new DataTokens(jwtKeyPem, clock);
  const log = quietLog(options.log, clock, ["warn", "error"]);
  const platform = new SqldPlatform({ url, adminUrl, adminToken, tokens, fetch, log });
  const streamPool = new StreamPool(KEPT_STREAMS, clock);
  return new RemoteStore({
    platform,
    streamPool,
    clock,
    log,
    fetch,
    queryTimeoutMs,
    logDays,
    logBytes,
    snapshotDays,
    gateEngine,
    readsAtOnce: READS_AT_ONCE,
    ...(options.tenantsOpenMax === undefined ? {} : { mostOpen: options.tenantsOpenMax }),
  });
}
