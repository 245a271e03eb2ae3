// SQLite takes the end of a statement for the end of a comment; the server's own parser does not.
import { sqlTokens } from "../../../sql/sql_tokens.ts";
import type { TenantCall } from "../../tenant_store.ts";

/** The call with a comment that its texts leave open closed. */
export function closeComments(call: TenantCall): TenantCall {
  if (!call.statements.some(({ sql }) => sql.includes("/*"))) return call;
  return { ...call, statements: call.statements.map((one) => ({ ...one, sql: closed(one.sql) })) };
}

/** All that can stand behind the last token. A comment that does not end goes to the end, so nothing is read twice. */
const SPACE = /--[^\n]*|\/\*[^]*?(?:\*\/|$)|\s+/g;

function closed(sql: string): string {
  const behind = sql.slice(sqlTokens(sql).at(-1)?.end ?? 0);
  const last = behind.match(SPACE)?.at(-1) ?? "";
  const open = last.startsWith("/*") && !(last.length >= "/**/".length && last.endsWith("*/"));
  return open ? `${sql}*/` : sql;
}
