// What the first start makes: a namespace `demo` with a small shop in it, one table of it published, and a token.
import { AppError } from "../../core/errors.ts";
import { keys } from "../../store/keys.ts";
import { kvCommit, kvGet } from "../../store/kv_call.ts";
import { createDatabase } from "../databases/create_database.ts";
import type { EndpointContext } from "../endpoints/endpoint_context.ts";
import { listEndpoints } from "../endpoints/manage_endpoints.ts";
import { moveEndpoint } from "../endpoints/move_endpoint.ts";
import { scaffoldCrud } from "../endpoints/scaffold/scaffold_crud.ts";
import { createNamespace } from "../namespaces/create_namespace.ts";
import { createToken } from "../tokens/create_token.ts";
import { demoShop } from "./demo_shop.ts";

export const DEMO_SLUG = "demo";
/** The table whose endpoints are published. */
const DEMO_TABLE = "products";
/** Milliseconds after which a process that began the first start is taken for dead. */
const LEASE_MS = 60_000;

/**
 * Makes the demo unless it was made before, or `demo` is off: the answer is its token, or null. Of several processes
 * one does it; after a crash the next start goes on. Errors: `meter_unreachable`, `store_unavailable`.
 */
export async function firstStart(
  ctx: EndpointContext,
  { kv, demo }: { readonly kv: Deno.Kv; readonly demo: boolean },
): Promise<string | null> {
  const key = keys.firstStart();
  const found = await kvGet(kv, key);
  if (found.value?.done || (found.value?.leaseUntilMs ?? 0) > ctx.clock.now()) return null;
  const claim = { done: !demo, leaseUntilMs: demo ? ctx.clock.now() + LEASE_MS : null };
  if (!await kvCommit(kv.atomic().check(found).set(key, claim))) return null;
  // Made while there is room: published endpoints need its secret to be called, also on a disk that is full by then.
  await ctx.query.hashes.of("first start");
  if (!demo) return null;
  await unlessTaken(createNamespace(ctx, { slug: DEMO_SLUG, name: "Demo" }));
  await unlessTaken(createDatabase(ctx, {
    namespaceSlug: DEMO_SLUG,
    slug: DEMO_SLUG,
    name: "Demo shop",
    content: demoShop(),
  }));
  await publishTable(ctx, DEMO_TABLE);
  const { token } = await createToken(ctx, { namespaceSlug: DEMO_SLUG, name: "First start", role: "admin" });
  await kvCommit(kv.atomic().set(key, { done: true, leaseUntilMs: null }));
  return token;
}

/** Makes the usual endpoints of a table and publishes them. */
async function publishTable(ctx: EndpointContext, table: string): Promise<void> {
  const address = { namespaceSlug: DEMO_SLUG, slug: DEMO_SLUG };
  await scaffoldCrud(ctx, { address, table });
  for (const { slug } of await listEndpoints(ctx, address)) {
    await moveEndpoint(ctx, { address, slug, transition: "publish" });
  }
}

/** A first start that was cut short has made some of it already. */
async function unlessTaken(step: Promise<unknown>): Promise<void> {
  try {
    await step;
  } catch (error) {
    if (!(error instanceof AppError && error.code === "slug_taken")) throw error;
  }
}
