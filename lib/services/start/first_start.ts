// What the first start makes: a namespace `demo` with a small shop, one published table of it, a token, and the link by which
// its first admin comes in.
import { newToken, tokenHash } from "../../access/token_format.ts";
import { ConfigError, failedWith } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { START_LINK_MS } from "../../core/limits.ts";
import { keys, kindOf } from "../../store/keys.ts";
import { kvCommit, kvGet, kvPage } from "../../store/kv_call.ts";
import { createDatabase } from "../databases/manage_databases.ts";
import type { EndpointContext } from "../endpoints/endpoint_context.ts";
import { listEndpoints, moveEndpoint } from "../endpoints/manage_endpoints.ts";
import { scaffoldCrud } from "../endpoints/scaffold/scaffold_crud.ts";
import { requireNamespace } from "../namespaces/namespace_record.ts";
import { createNamespace } from "../namespaces/manage_namespaces.ts";
import { createToken } from "../tokens/manage_tokens.ts";
import { demoShop } from "./demo_shop.ts";

/** The slug of the demo's namespace and of its database. */
export const DEMO_SLUG = "demo";
/** The table whose endpoints are published. */
const DEMO_TABLE = "products";
/** Milliseconds after which another process may repeat a first start that has not finished. */
const LEASE_MS = 60_000;

/** Whoever starts a service can do more about it than try again. */
const NO_STORE =
  "Start what TENANTS_URL names, or correct it; nobody answers there, and the first start makes the demo in it " +
  "(DEMO=0 does without)";

/** What lets people and programs into the demo; each is shown once. */
export interface DemoSecrets {
  /** An unscoped admin token. */
  readonly token: string;
  /** The end of the link for the first admin. */
  readonly startToken: string;
}

/** What a first start is told. `alone`: no other process has this KV, so that whoever began before has ended. */
export interface FirstStartOptions {
  readonly kv: Deno.Kv;
  readonly demo: boolean;
  readonly alone: boolean;
}

/**
 * Makes the demo and answers its secrets; null when it was made before or `demo` is off. One of several processes makes
 * it, and after a failure or a crash the next start goes on. Errors: `meter_unreachable`; `ConfigError` where the tenant store
 * does not answer.
 */
export async function firstStart(
  ctx: EndpointContext,
  { kv, demo, alone }: FirstStartOptions,
): Promise<DemoSecrets | null> {
  const key = keys.firstStart();
  const found = await kvGet(kv, key);
  const isHeld = !alone && (found.value?.leaseUntilMs ?? 0) > ctx.clock.now();
  if (found.value?.done || isHeld) return null;
  const claim = { done: !demo, leaseUntilMs: demo ? ctx.clock.now() + LEASE_MS : null };
  if (!await kvCommit(kv.atomic().check(found).set(key, claim))) return null;
  // The secret of these hashes is made now: published endpoints need it, also when the disk is full later.
  await ctx.query.hashes.of("first start");
  if (!demo) return null;
  try {
    const secrets = await makeDemo(ctx);
    await kvCommit(kv.atomic().set(key, { done: true, leaseUntilMs: null }));
    return secrets;
  } catch (error) {
    // Where KV is what has failed, the next start waits for the end of the lease.
    await endLease(kv, claim.leaseUntilMs).catch(() => {});
    if (failedWith(error, "store_unavailable")) throw new ConfigError(NO_STORE);
    throw error;
  }
}

/** Unless another process has begun anew meanwhile. */
async function endLease(kv: Deno.Kv, leaseUntilMs: number | null): Promise<void> {
  const held = await kvGet(kv, keys.firstStart());
  if (held.value?.leaseUntilMs !== leaseUntilMs) return;
  await kvCommit(kv.atomic().check(held).set(held.key, { done: false, leaseUntilMs: null }));
}

async function makeDemo(ctx: EndpointContext): Promise<DemoSecrets> {
  await unlessTaken(createNamespace(ctx, { slug: DEMO_SLUG, name: "Demo" }));
  await unlessTaken(createDatabase(ctx, {
    namespaceSlug: DEMO_SLUG,
    slug: DEMO_SLUG,
    name: "Demo shop",
    content: demoShop(),
  }));
  await publishTable(ctx);
  const { token } = await createToken(ctx, { namespaceSlug: DEMO_SLUG, name: "First start", role: "admin" });
  return { token, startToken: await addStartLink(ctx) };
}

/** A link for the first admin of the demo, good for a day. */
async function addStartLink(ctx: EndpointContext): Promise<string> {
  const { id: namespaceId } = await requireNamespace(ctx, DEMO_SLUG);
  const startToken = newToken("pstart_");
  const now = ctx.clock.now();
  await ctx.control.links.addStart(tokenHash(startToken), {
    kind: "start",
    namespaceId,
    memberId: newId("mem", now),
    byPerson: true,
    untilMs: now + START_LINK_MS,
  });
  return startToken;
}

/** Makes the usual endpoints of the demo's table and publishes them. */
async function publishTable(ctx: EndpointContext): Promise<void> {
  const address = { namespaceSlug: DEMO_SLUG, slug: DEMO_SLUG };
  await scaffoldCrud(ctx, { address, table: DEMO_TABLE });
  for (const { slug } of await listEndpoints(ctx, address)) {
    await moveEndpoint(ctx, { address, slug, transition: "publish" });
  }
}

/** An earlier first start that was cut short may have made this already. */
async function unlessTaken(step: Promise<unknown>): Promise<void> {
  try {
    await step;
  } catch (error) {
    if (!failedWith(error, "slug_taken")) throw error;
  }
}

/**
 * Whether the control plane is new. Beside a data folder with databases this would be a mistake: it does not know
 * them. Errors: `meter_unreachable`.
 */
export async function isFirstStart(kv: Deno.Kv): Promise<boolean> {
  return (await kvGet(kv, keys.firstStart())).versionstamp === null;
}

/** Whether the control plane knows databases. One that cannot say so keeps no start from its other work: false. */
export async function knowsDatabases(kv: Deno.Kv): Promise<boolean> {
  const prefix = kindOf(keys.database("", ""));
  return await kvPage(kv, { prefix, after: null, limit: 1 }).then((found) => found.length > 0, () => false);
}
