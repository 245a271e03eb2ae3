// The column of a users table that says when an address was verified.
import type { QueryMeta } from "../../query/query_call.ts";
import { isoTime } from "../../core/clock.ts";
import { quoteIdentifier } from "../../sql/words/quote.ts";
import { rowsOf } from "../query/read_result.ts";
import type { Account } from "./find_account.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";
import { readUsers } from "./read_users.ts";
import { runOwn } from "./run_for_endpoint.ts";

type Context = Pick<PublishedContext, "query" | "control">;

/** False for an endpoint without such a column. Errors: those of the pipeline. */
export async function isVerified(
  ctx: Context,
  call: EndpointCall,
  { key: value }: Account,
): Promise<boolean> {
  const column = call.record.spec.authConfig?.verifiedColumn;
  if (column === undefined) return false;
  const { table, key } = await readUsers(ctx, call);
  const sql = `SELECT ${quoteIdentifier(column)} IS NOT NULL FROM ${quoteIdentifier(table)} ` +
    `WHERE ${quoteIdentifier(key)} = ?1`;
  const { results: [result] } = await runOwn(ctx, call, { sql, params: [value] }, "service");
  return rowsOf<[number]>(result?.json)[0]?.[0] === 1;
}

/** Writes the time where the account still has that address; null where it has not. Errors: those of the pipeline. */
export async function setVerified(
  ctx: Context & Pick<PublishedContext, "clock">,
  call: EndpointCall,
  account: Account,
): Promise<QueryMeta | null> {
  const { table, key, emailColumn } = await readUsers(ctx, call);
  const column = call.record.spec.authConfig?.verifiedColumn;
  if (column === undefined || emailColumn === null) return null;
  const sql = `UPDATE ${quoteIdentifier(table)} SET ${quoteIdentifier(column)} = ?1 ` +
    `WHERE ${quoteIdentifier(key)} = ?2 AND ${quoteIdentifier(emailColumn)} IS ?3 RETURNING 1`;
  const params = [isoTime(ctx.clock.now()), account.key, account.email];
  const { results: [result], meta } = await runOwn(ctx, call, { sql, params }, "endpoint");
  return rowsOf(result?.json).length > 0 ? meta : null;
}
