// Whether the parts that a request needs answer: Deno KV and the tenant store.
import { keys } from "../../store/keys.ts";
import type { TenantStore } from "../../tenant/tenant_store.ts";

export interface ReadinessContext {
  readonly kv: Deno.Kv;
  readonly tenants: Pick<TenantStore, "ready">;
}

/** Milliseconds that a part has to answer. */
const PATIENCE_MS = 2000;

/** The names of the parts that do not answer; empty when all is well. Never says why: anybody may ask. */
export async function checkReadiness({ kv, tenants }: ReadinessContext): Promise<("kv" | "tenants")[]> {
  const [kvAnswers, tenantsAnswer] = await Promise.all([
    answers(() => kv.get(keys.firstStart())),
    answers(() => tenants.ready()),
  ]);
  return [...(kvAnswers ? [] : ["kv"] as const), ...(tenantsAnswer ? [] : ["tenants"] as const)];
}

async function answers(probe: () => Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => timer = setTimeout(() => resolve(false), PATIENCE_MS));
  try {
    return await Promise.race([probe().then(() => true), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
