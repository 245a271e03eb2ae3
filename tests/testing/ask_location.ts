// A database in sqld as whoever has the service's secrets sees it, past the service.
import type { Config } from "../../lib/config.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { DataTokens } from "../../lib/tenant/sqld/data_tokens.ts";
import { SqldPlatform } from "../../lib/tenant/sqld/sqld_platform.ts";

export type LocationValue = { readonly value?: unknown; readonly base64?: string };

/** Rows of each of the statements that has run; null: there is no such location. */
export async function askLocation(
  { tenantsUrl, tenantsJwtKey }: Pick<Config, "tenantsUrl" | "tenantsJwtKey">,
  location: string,
  statements: readonly string[],
): Promise<readonly LocationValue[][][] | null> {
  if (tenantsUrl.kind !== "sqld") throw new TypeError("tenants are elsewhere");
  const tokens = tenantsJwtKey === null ? null : new DataTokens(tenantsJwtKey, systemClock);
  const platform = new SqldPlatform({ ...tenantsUrl, adminToken: null, tokens, fetch, log: silentLog });
  const { url, headers } = await platform.endpoint(location, "write");
  const response = await fetch(`${url}/v3/pipeline`, {
    method: "POST",
    headers,
    body: JSON.stringify({
      baton: null,
      requests: [...statements.map((sql) => ({ type: "execute", stmt: { sql } })), { type: "close" }],
    }),
  });
  const text = await response.text();
  if (response.status === 404) return null;
  const { results }: { results: { response: { result?: { rows: LocationValue[][] } } }[] } = JSON.parse(text);
  return results.flatMap(({ response }) => response.result ? [response.result.rows] : []);
}
