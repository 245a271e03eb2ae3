// Opens the tenant store that the settings name.
import type { Config } from "../../config.ts";
import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import type { FactsCache } from "../../query/facts_cache.ts";
import { archiveSettings } from "../../tenant/archive/archive_settings.ts";
import type { TenantStore } from "../../tenant/tenant_store.ts";
import { openTransferRoom } from "../../tenant/transfer/open_transfer_room.ts";
import { isFirstStart, knowsDatabases } from "./first_start.ts";

/** Parts of the process that a store needs, and the KV, which knows whether there are databases. */
interface OpeningParts {
  readonly kv: Deno.Kv;
  readonly facts: FactsCache;
  readonly clock: Clock;
  readonly log: Log;
}

/** Loads the one store that is used: where there is no disk, nothing of the embedded engine is ever read. */
export async function openTenants(
  config: Config,
  { kv, facts, clock, log }: OpeningParts,
): Promise<TenantStore> {
  const { tenantsUrl } = config;
  const syntax = (sql: string) => facts.syntax(sql);
  const transferRoom = tenantsUrl.kind === "file" ? null : await openTransferRoom(config, log);
  const known = { knowsDatabases: await knowsDatabases(kv) };
  const remote = { ...config, ...known, syntax, clock, log, transferRoom };
  switch (tenantsUrl.kind) {
    case "file": {
      const { createLocalStore } = await import("../../tenant/local/create_local_store.ts");
      const archive = archiveSettings(config);
      const own = { ...known, newHere: await isFirstStart(kv), archive, dataDirectory: config.dataDir };
      return await createLocalStore({ ...config, ...own, clock, log });
    }
    case "sqld": {
      const { createSqldStore } = await import("../../tenant/sqld/create_sqld_store.ts");
      const { url, adminUrl } = tenantsUrl;
      const secrets = { adminToken: config.tenantsToken, jwtKeyPem: config.tenantsJwtKey };
      return createSqldStore({ ...remote, ...secrets, url, adminUrl });
    }
    case "turso": {
      const { createTursoStore } = await import("../../tenant/turso/create_turso_store.ts");
      const own = { ...tenantsUrl, token: config.tenantsToken };
      return createTursoStore({ ...remote, ...own });
    }
  }
}
