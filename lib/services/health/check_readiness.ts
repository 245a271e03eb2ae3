// Whether the parts that a request needs answer, and how: Deno KV and the tenant store.
import { keys } from "../../store/keys.ts";
import type { StoreStrain } from "../../tenant/store_strain.ts";
import type { TenantStore } from "../../tenant/tenant_store.ts";

export interface ReadinessContext {
  readonly kv: Deno.Kv;
  readonly tenants: Pick<TenantStore, "ready">;
}

type Part = "kv" | "tenants";

/** Never says more than this: anybody may ask. */
export interface Readiness {
  /** Parts that fail, or that have not answered in time. */
  readonly notReady: readonly Part[];
  /** Parts that do their work, and what is the matter with them. */
  readonly degraded: readonly { readonly part: Part; readonly reason: "slow" | StoreStrain }[];
}

/** Milliseconds above which an answer is slow, and in which a part has to answer at all. */
const SLOW_MS = 1000;
const PATIENCE_MS = 10_000;

/** Those who ask at the same time get the same answer, so that no number of them asks the parts more often. */
export class ReadinessCheck {
  #running: Promise<Readiness> | null = null;

  constructor(private readonly context: ReadinessContext) {}

  check(): Promise<Readiness> {
    return this.#running ??= this.#check().finally(() => this.#running = null);
  }

  async #check(): Promise<Readiness> {
    const { kv, tenants } = this.context;
    const parts = await Promise.all([
      probe("kv", async () => {
        await kv.get(keys.firstStart());
        return [];
      }),
      probe("tenants", () => tenants.ready()),
    ]);
    return {
      notReady: parts.flatMap(({ notReady }) => notReady),
      degraded: parts.flatMap(({ degraded }) => degraded),
    };
  }
}

async function probe(part: Part, ask: () => Promise<readonly StoreStrain[]>): Promise<Readiness> {
  let slow = false;
  const slowly = setTimeout(() => slow = true, SLOW_MS);
  let late: ReturnType<typeof setTimeout> | undefined;
  const never = new Promise<null>((resolve) => late = setTimeout(() => resolve(null), PATIENCE_MS));
  try {
    const strains = await Promise.race([ask(), never]);
    if (strains === null) return { notReady: [part], degraded: [] };
    const reasons = [...(slow ? ["slow"] as const : []), ...strains];
    return { notReady: [], degraded: reasons.map((reason) => ({ part, reason })) };
  } catch {
    return { notReady: [part], degraded: [] };
  } finally {
    clearTimeout(slowly);
    clearTimeout(late);
  }
}
