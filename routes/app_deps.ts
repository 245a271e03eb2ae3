// What the process gives the HTTP surface.
import type { Config } from "../lib/config.ts";
import type { ControlPlane } from "../lib/control/control_plane.ts";
import type { Clock } from "../lib/core/clock.ts";
import type { Log } from "../lib/core/log.ts";
import type { BodyWatch } from "../lib/guard/body_watch.ts";
import type { QueryContext } from "../lib/query/query_call.ts";
import type { TenantStore } from "../lib/tenant/tenant_store.ts";

export interface AppDeps {
  readonly config: Config;
  /** Prefix of absolute URLs, without a slash at the end. */
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly kv: Deno.Kv;
  readonly control: ControlPlane;
  readonly tenants: TenantStore;
  readonly query: QueryContext;
  readonly bodyWatch: BodyWatch;
  /** SHA-256 of the operator key, hex. */
  readonly operatorKeyHash: string;
}
