// What the first start makes: the operator's key, and a namespace `demo` with a small shop, one published table of
// it, a token, and the link by which its first admin comes in.
import { newToken, tokenHash } from "../../access/token_format.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { START_LINK_MS } from "../../core/limits.ts";
import { keys } from "../../store/keys.ts";
import { kvCommit, kvGet } from "../../store/kv_call.ts";
import { createDatabase } from "../databases/manage_databases.ts";
import type { EndpointContext } from "../endpoints/endpoint_context.ts";
import { listEndpoints, moveEndpoint } from "../endpoints/manage_endpoints.ts";
import { scaffoldCrud } from "../endpoints/scaffold/scaffold_crud.ts";
import { requireNamespace } from "../namespaces/namespace_record.ts";
import { createNamespace } from "../namespaces/manage_namespaces.ts";
import { startUrl } from "../people/link_urls.ts";
import { createToken } from "../tokens/manage_tokens.ts";
import { demoShop } from "./demo_shop.ts";

/** The slug of the demo's namespace and of its database. */
const DEMO_SLUG = "demo";
/** The table whose endpoints are published. */
const DEMO_TABLE = "products";
/** Milliseconds after which another process may repeat a first start that has not finished. */
const LEASE_MS = 60_000;

/** What lets people and programs into the demo; each is shown once. */
export interface DemoSecrets {
  /** An unscoped admin token. */
  readonly token: string;
  /** The end of the link for the first admin. */
  readonly startToken: string;
}

/**
 * Makes the demo and answers its secrets; null when it was made before or `demo` is off. One of several processes makes
 * it, and after a crash the next start goes on. Errors: `meter_unreachable`, `store_unavailable`.
 */
export async function firstStart(
  ctx: EndpointContext,
  { kv, demo }: { readonly kv: Deno.Kv; readonly demo: boolean },
): Promise<DemoSecrets | null> {
  const key = keys.firstStart();
  const found = await kvGet(kv, key);
  if (found.value?.done || (found.value?.leaseUntilMs ?? 0) > ctx.clock.now()) return null;
  const claim = { done: !demo, leaseUntilMs: demo ? ctx.clock.now() + LEASE_MS : null };
  if (!await kvCommit(kv.atomic().check(found).set(key, claim))) return null;
  // The secret of these hashes is made now: published endpoints need it, also when the disk is full later.
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
  const startToken = await addStartLink(ctx);
  await kvCommit(kv.atomic().set(key, { done: true, leaseUntilMs: null }));
  return { token, startToken };
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

/** Makes the usual endpoints of a table and publishes them. */
async function publishTable(ctx: EndpointContext, table: string): Promise<void> {
  const address = { namespaceSlug: DEMO_SLUG, slug: DEMO_SLUG };
  await scaffoldCrud(ctx, { address, table });
  for (const { slug } of await listEndpoints(ctx, address)) {
    await moveEndpoint(ctx, { address, slug, transition: "publish" });
  }
}

/** An earlier first start that was cut short may have made this already. */
async function unlessTaken(step: Promise<unknown>): Promise<void> {
  try {
    await step;
  } catch (error) {
    if (!(error instanceof AppError && error.code === "slug_taken")) throw error;
  }
}

/**
 * Whether the control plane is new. Beside a data folder with databases this would be a mistake: it does not know
 * them. Errors: `meter_unreachable`.
 */
export async function isFirstStart(kv: Deno.Kv): Promise<boolean> {
  return (await kvGet(kv, keys.firstStart())).versionstamp === null;
}

interface OperatorKey {
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  /** The key itself, when this call has made it: nobody else knows it yet. */
  readonly made: string | null;
}

/**
 * The operator's key: configured, or made at the first start and shown that once. A configured key wins and is not
 * stored. Errors: `meter_unreachable`.
 */
export async function operatorKey(kv: Deno.Kv, configured: string | null): Promise<OperatorKey> {
  if (configured !== null) return { hash: tokenHash(configured), made: null };
  const key = keys.operatorKeyHash();
  const stored = await kvGet(kv, key);
  if (stored.versionstamp !== null) return { hash: stored.value, made: null };
  const made = newToken("cub_op_");
  const hash = tokenHash(made);
  if (await kvCommit(kv.atomic().check(stored).set(key, hash))) return { hash, made };
  return await operatorKey(kv, configured);
}

/** What this start has made. */
export interface GreetingInput {
  readonly baseUrl: string;
  /** Set when this start has made the key. */
  readonly operatorKey: string | null;
  /** Set when this start has made the demo. */
  readonly demo: DemoSecrets | null;
}

/** Lines for standard output. Secrets appear here once and nowhere else. */
export function greeting({ baseUrl, operatorKey, demo }: GreetingInput): string {
  const lines = [
    `Cubby listens on ${baseUrl}`,
    `Its console is at ${baseUrl}/console`,
    `Its documentation is at ${baseUrl}/docs`,
  ];
  if (operatorKey !== null) {
    lines.push("", "The operator key makes namespaces. It is shown this once:", `  ${operatorKey}`);
  }
  if (demo !== null) {
    lines.push(
      "",
      `A demo shop is in namespace "${DEMO_SLUG}", database "${DEMO_SLUG}". Its admin token, shown this once:`,
      `  ${demo.token}`,
      "",
      "Become its first admin in the console, by this link, once and within a day:",
      `  ${startUrl(baseUrl, demo.startToken)}`,
      "",
      "Try it:",
      ...demoCalls(baseUrl, demo.token).map((line) => `  ${line}`),
    );
  }
  return `${lines.join("\n")}\n`;
}

function demoCalls(baseUrl: string, token: string): string[] {
  const database = `${baseUrl}/v1/db/${DEMO_SLUG}/${DEMO_SLUG}`;
  const bearer = `-H 'Authorization: Bearer ${token}'`;
  const query = (sql: string, params: unknown[]) =>
    `curl -s ${database}/query ${bearer} -d '${JSON.stringify({ sql, params })}'`;
  return [
    `curl -s ${baseUrl}/p/${DEMO_SLUG}/${DEMO_SLUG}/list-products`,
    query("SELECT name, price_cents FROM products WHERE price_cents > ? ORDER BY price_cents", [1500]),
    query("INSERT INTO products (name, price_cents) VALUES (?, ?)", ["Eraser", 90]),
  ];
}
