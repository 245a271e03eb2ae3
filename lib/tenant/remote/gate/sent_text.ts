// Texts of statements in the form in which a server takes them, where SQLite itself takes them in another one as well.
import { quoteText } from "../../../sql/words/quote.ts";
import { sqlTokens } from "../../../sql/tokens/sql_tokens.ts";
import { readSyntax } from "../../../sql/grammar/syntax.ts";
import type { TenantCall } from "../../tenant_store.ts";

/**
 * The call with a comment that its texts leave open closed: SQLite takes the end of a statement for the end of a comment,
 * the server's own parser does not.
 */
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

/**
 * The text of a reading statement with the same columns and rows. A server with tokens counts most PRAGMAs as writes, and
 * lets no reading token run them; what each of those that readers may run tells, a table function tells too.
 */
export function asSelect(sql: string): string {
  if (!/pragma/i.test(sql)) return sql;
  const read = readSyntax(sql);
  if (!read.ok || read.syntax.pragma === null || read.syntax.pragma.sets) return sql;
  const { name, argument, schema } = read.syntax.pragma;
  // Another schema than `main` has nothing to tell but here.
  const within = name === "table_list" && schema !== null ? ` WHERE schema = ${quoteText(schema)}` : "";
  return `SELECT * FROM pragma_${name}${argument === null ? "" : `(${quoteText(argument)})`}${within}`;
}
