// A whole app on an in-memory KV and a real local store, with one bearer of every kind.
import { newToken, tokenHash } from "../../lib/access/token_format.ts";
import { configFromEnvironment, readConfig } from "../../lib/config.ts";
import { ControlPlane } from "../../lib/control/control_plane.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import type { Role } from "../../lib/core/role.ts";
import { BodyWatch } from "../../lib/guard/body_watch.ts";
import { FactsCache } from "../../lib/query/facts_cache.ts";
import { createDatabase } from "../../lib/services/databases/create_database.ts";
import type { ManageContext } from "../../lib/services/manage_context.ts";
import { createNamespace } from "../../lib/services/namespaces/create_namespace.ts";
import { createToken } from "../../lib/services/tokens/create_token.ts";
import { createLocalStore } from "../../lib/tenant/local/local_store.ts";
import { createApp } from "../../routes/app.ts";

/** Namespace `acme` with the databases `orders` and `stock`, namespace `other`, and who may knock. */
export interface SecuredApp {
  readonly app: ReturnType<typeof createApp>;
  readonly operator: string;
  /** Unscoped tokens of `acme`. */
  readonly admin: string;
  readonly reader: string;
  /** An admin token of `acme` whose scopes list `orders` or `stock` only. */
  readonly ordersAdmin: string;
  readonly stockAdmin: string;
  /** An unscoped admin token of `other`. */
  readonly foreignAdmin: string;
}

/** Opens the app for the time of `body`. */
export async function withSecuredApp(body: (opened: SecuredApp) => Promise<void>): Promise<void> {
  const dataDirectory = await Deno.makeTempDir();
  const kv = await Deno.openKv(":memory:");
  const config = readConfig({ DATA_DIR: dataDirectory, FLOOD_PER_10S: "0" });
  const clock = systemClock;
  const tenants = await createLocalStore({
    dataDirectory,
    queryTimeoutMs: 5000,
    logDays: 1,
    clock,
    log: silentLog,
    engineEnvironment: configFromEnvironment().engineEnvironment,
  });
  const control = new ControlPlane(kv, clock);
  const operator = newToken("cub_op_");
  try {
    const app = createApp({
      ...{ config, clock, kv, control, tenants, log: silentLog, baseUrl: "http://127.0.0.1" },
      query: { tenants, clock, facts: new FactsCache(), bounds: { rows: 1000, bytes: 1_000_000 } },
      bodyWatch: new BodyWatch(10),
      operatorKeyHash: tokenHash(operator),
    });
    const bearers = await makeBearers({ control, tenants, clock, caller: { kind: "operator" } });
    await body({ app, operator, ...bearers });
  } finally {
    await tenants.close();
    kv.close();
    await Deno.remove(dataDirectory, { recursive: true });
  }
}

async function makeBearers(ctx: ManageContext): Promise<Omit<SecuredApp, "app" | "operator">> {
  for (const slug of ["acme", "other"]) await createNamespace(ctx, { slug });
  const orders = await createDatabase(ctx, { namespaceSlug: "acme", slug: "orders" });
  const stock = await createDatabase(ctx, { namespaceSlug: "acme", slug: "stock" });
  const token = async (namespaceSlug: string, role: Role, databaseId?: string) => {
    const scopes = databaseId === undefined ? [] : [{ databaseId, branchRef: "main", role }];
    return (await createToken(ctx, { namespaceSlug, name: "test", role, scopes })).token;
  };
  return {
    admin: await token("acme", "admin"),
    reader: await token("acme", "read"),
    ordersAdmin: await token("acme", "admin", orders.id),
    stockAdmin: await token("acme", "admin", stock.id),
    foreignAdmin: await token("other", "admin"),
  };
}
