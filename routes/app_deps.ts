// What the process gives the HTTP surface.
import type { Config } from "../lib/config.ts";
import { Approvals } from "../lib/control/approvals.ts";
import { HeldCalls } from "../lib/control/held_calls.ts";
import { Rules } from "../lib/control/rules.ts";
import { Ledger } from "../lib/control/balance/ledger.ts";
import { Meter } from "../lib/control/balance/meter.ts";
import { ControlPlane } from "../lib/control/control_plane.ts";
import { Replays } from "../lib/control/replays.ts";
import type { Clock } from "../lib/core/clock.ts";
import type { Log } from "../lib/core/log.ts";
import type { BodyWatch } from "../lib/guard/body_watch.ts";
import { FactsCache } from "../lib/query/facts_cache.ts";
import { toNanoUsd } from "../lib/query/prices.ts";
import type { QueryContext } from "../lib/query/query_call.ts";
import type { TenantStore } from "../lib/tenant/tenant_store.ts";

/** What is opened outside: by `main.ts`, or by a test. */
export interface ProcessParts {
  readonly config: Config;
  /** Prefix of absolute URLs, without a slash at the end. */
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly kv: Deno.Kv;
  readonly tenants: TenantStore;
  readonly bodyWatch: BodyWatch;
  /** SHA-256 of the operator key, hex. */
  readonly operatorKeyHash: string;
}

export interface AppDeps extends ProcessParts {
  readonly control: ControlPlane;
  readonly ledger: Ledger;
  /** Credit of a new namespace. */
  readonly welcomeCreditNanoUsd: number;
  /** Whoever owns the process calls `query.meter.tick()` every second and `query.meter.close()` at the end. */
  readonly query: QueryContext;
}

/** Joins what is opened once a process with what stands on it. */
export function appDeps(parts: ProcessParts): AppDeps {
  const { kv, clock, tenants, config, baseUrl } = parts;
  const meter = new Meter(kv, clock);
  return {
    ...parts,
    control: new ControlPlane(kv, clock),
    ledger: new Ledger(kv, clock, (namespaceId) => meter.recheck(namespaceId)),
    welcomeCreditNanoUsd: toNanoUsd(config.welcomeCreditUsd),
    query: {
      ...{ tenants, clock, baseUrl, meter, facts: new FactsCache(), replays: new Replays(kv, clock) },
      ...{ rules: new Rules(kv, clock), approvals: new Approvals(kv, clock), held: new HeldCalls(kv, clock) },
      bounds: { rows: config.maxResultRows, bytes: config.maxResultBytes },
    },
  };
}
