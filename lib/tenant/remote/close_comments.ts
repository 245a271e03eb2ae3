// SQLite takes the end of a statement for the end of a comment; the server's own parser does not.
import { planTokens } from "../local/child/plan_tokens.ts";
import type { TenantCall } from "../tenant_store.ts";

/** The call with a comment that its texts leave open closed. */
export function closeComments(call: TenantCall): TenantCall {
  if (!call.statements.some(({ sql }) => sql.includes("/*"))) return call;
  return { ...call, statements: call.statements.map((one) => ({ ...one, sql: closed(one.sql) })) };
}

const CLOSED = /--[^\n]*|\/\*[^]*?\*\/|\s+/g;

function closed(sql: string): string {
  const behind = sql.slice(planTokens(sql).at(-1)?.end ?? 0);
  return behind.replaceAll(CLOSED, "").startsWith("/*") ? `${sql}*/` : sql;
}
