// Tenant databases in Turso Cloud.
import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import { streamOnce } from "../../core/send_once.ts";
import type { Fetch } from "../remote/hrana/poster.ts";
import { type RemoteSettings, withDefaults } from "../remote/server/remote_context.ts";
import { RemoteStore } from "../remote/remote_store.ts";
import { TURSO_API_URL, TursoApi } from "./turso_api.ts";
import { TursoPlatform } from "./turso_platform.ts";

/** How to reach the databases of one account. */
export interface TursoAccount {
  readonly organization: string;
  /** All databases are in this one, which must be there. */
  readonly group: string;
  /** Platform token that may read, create and delete databases of the group, configure them and mint their tokens. */
  readonly token: string | null;
  /** Without a trailing slash; null: Turso's own. Databases are spoken to by the same scheme. */
  readonly apiUrl: string | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Default: `streamOnce`. */
  readonly fetch?: Fetch;
}

/** The settings of the store. */
export interface TursoStoreOptions extends TursoAccount, RemoteSettings {
  /** Name of the catalogue's database, where another one than the installation's own is wanted. */
  readonly catalogLocation?: string;
}

/** Opens nothing: the first use reaches Turso. */
export function createTursoStore(options: TursoStoreOptions): RemoteStore {
  const { catalogLocation } = options;
  const settings = withDefaults(options);
  return new RemoteStore({
    ...settings,
    platform: tursoPlatform({ ...options, ...settings }),
    ...(catalogLocation === undefined ? {} : { catalogLocation }),
  });
}

/** The platform by itself, for whoever administers its databases. */
export function tursoPlatform(
  { organization, group, token, clock, log, fetch = streamOnce, ...account }: TursoAccount,
): TursoPlatform {
  const apiUrl = account.apiUrl ?? TURSO_API_URL;
  return new TursoPlatform({
    api: new TursoApi({ apiUrl, organization, token, log, fetch }),
    group,
    scheme: apiUrl.startsWith("http:") ? "http" : "https",
    clock,
    fetch,
  });
}
