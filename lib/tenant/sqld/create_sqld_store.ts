// Tenant databases in sqld, the self-hosted libSQL server.
import { StreamPool } from "../remote/hrana/stream_pool.ts";
import { StreamSockets, takesSockets } from "../remote/hrana/stream_sockets.ts";
import { type RemoteSettings, withDefaults } from "../remote/server/remote_context.ts";
import { RemoteStore } from "../remote/remote_store.ts";
import { DataTokens } from "./data_tokens.ts";
import { SqldPlatform } from "./sqld_platform.ts";

/** The settings of the store. */
export interface SqldStoreOptions extends RemoteSettings {
  /** Where Hrana over HTTP answers, and where the admin API does. */
  readonly url: string;
  readonly adminUrl: string;
  /** sqld's `--admin-auth-key`; null: it has none. */
  readonly adminToken: string | null;
  /** Ed25519 private key (PKCS #8 PEM) whose public half sqld was given; null: no data token is sent. */
  readonly jwtKeyPem: string | null;
  /** Locations that sqld can have open: five files each. Default: as many as there are. */
  readonly tenantsOpenMax?: number;
}

/** Reads at a time: it answers no more of them in a second by more at once, and each endless one takes a thread. */
const READS_AT_ONCE = 16;
/** Streams that stay open: sqld has 128 connections for everybody, and up to 15 processes work on it. */
const OPEN_STREAMS = 8;

/** Opens nothing: the first use reaches sqld, which must run with namespaces and without a default namespace. */
export function createSqldStore(options: SqldStoreOptions): RemoteStore {
  const { url, adminUrl, adminToken, jwtKeyPem, tenantsOpenMax } = options;
  const settings = withDefaults(options);
  const { clock, fetch, log } = settings;
  const tokens = jwtKeyPem === null ? null : new DataTokens(jwtKeyPem, clock);
  return new RemoteStore({
    ...settings,
    platform: new SqldPlatform({ url, adminUrl, adminToken, tokens, fetch, log }),
    streamPool: new StreamPool(OPEN_STREAMS, clock),
    ...(options.fetch === undefined && takesSockets(url) ? { sockets: new StreamSockets(clock) } : {}),
    isOneServer: true,
    readsAtOnce: READS_AT_ONCE,
    ...(tenantsOpenMax === undefined ? {} : { mostOpen: tenantsOpenMax }),
  });
}
