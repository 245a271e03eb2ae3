// How many databases a tenant store holds, looked at from outside: in its folder, or in the catalogue on the server.
import type { StartedApp } from "../testing/start_app.ts";

/** Databases, branches included; whatever belongs to none of them counts a hundred. */
export function countDatabases({ deps: { config } }: StartedApp): Promise<number> {
  const { tenantsUrl, dataDir } = config;
  return tenantsUrl.kind === "sqld" ? countPlaces(tenantsUrl.url) : countFiles(`${dataDir}/tenants`);
}

async function countFiles(tenants: string): Promise<number> {
  let count = 0;
  for await (const folder of Deno.readDir(tenants)) {
    for await (const entry of Deno.readDir(`${tenants}/${folder.name}`)) {
      if (/^db_\w+\.db$/.test(entry.name)) count++;
      if (entry.name.includes(".ancestor.") && !entry.name.endsWith(".ancestor.db")) count += 100;
    }
  }
  return count;
}

const COUNT = "SELECT (SELECT count(*) FROM tenant) + 100 * (SELECT count(*) FROM loose) + " +
  "100 * (SELECT count(*) FROM ancestor WHERE database_id NOT IN (SELECT database_id FROM tenant))";

async function countPlaces(url: string): Promise<number> {
  const response = await fetch(`${url}/v3/pipeline`, {
    method: "POST",
    headers: { "x-namespace-bin": btoa("cubby-catalog").replace(/=+$/, "") },
    body: JSON.stringify({
      baton: null,
      requests: [{ type: "execute", stmt: { sql: COUNT } }, { type: "close" }],
    }),
  });
  const text = await response.text();
  // Nobody has used this server yet.
  if (response.status === 404) return 0;
  const answer: { results: { response: { result: { rows: { value: string }[][] } } }[] } = JSON.parse(text);
  return Number(answer.results[0]?.response.result.rows[0]?.[0]?.value);
}
