// Databases with the corpus schema in a real store, for the tests that run the corpus.
import type { Config } from "../../lib/config.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import type { QueryContext } from "../../lib/query/query_call.ts";
import type { TenantStore } from "../../lib/tenant/tenant_store.ts";
import { startApp } from "../testing/start_app.ts";
import { member } from "../testing/test_namespace.ts";
import { corpusSchema, replaySecret } from "./corpus_schema.ts";

export interface CorpusTenant {
  readonly store: TenantStore;
  readonly config: Config;
  readonly ctx: QueryContext;
  readonly namespaceId: string;
  /** Makes one more database with the corpus schema and the kept answer; its id. */
  readonly addDatabase: () => Promise<string>;
}

/** Runs `body` on an app of its own, which is gone afterwards. */
export async function withCorpusTenant(body: (tenant: CorpusTenant) => Promise<void>): Promise<void> {
  await using app = await startApp();
  const { slug } = await app.namespace();
  const namespace = await app.request("GET", `/api/namespaces/${slug}`, { token: app.operatorKey });
  const { tenants, config, query } = app.deps;
  await body({
    store: tenants,
    config,
    ctx: query,
    namespaceId: member(namespace, "id"),
    addDatabase: () => addDatabase(tenants),
  });
}

async function addDatabase(store: TenantStore): Promise<string> {
  const databaseId = newId("db", systemClock.now());
  await store.create(databaseId);
  await store.open({ databaseId, namespaceId: "" }).write([
    ...corpusSchema.map((sql) => ({ sql, params: [] })),
    {
      sql:
        "INSERT INTO _service_meta_replay (probe, key, piece, request_hash, answer, expires_at) VALUES (1, 'k', 0, 'h', ?, 9e15)",
      params: [replaySecret],
    },
  ]);
  return databaseId;
}
