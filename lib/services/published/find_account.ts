// The rows of a users table as the service itself reads and writes them for accounts.
import type { QueryMeta } from "../../query/query_call.ts";
import { quoteIdentifier } from "../../sql/words/quote.ts";
import { PASSWORD_COLUMN } from "../endpoints/spec/users_table.ts";
import { rowsOf } from "../query/read_result.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";
import { readUsers } from "./read_users.ts";
import { runOwn } from "./run_for_endpoint.ts";
import { numberForm } from "./session_guard.ts";

/** A user. */
export interface Account {
  /** The value of the primary key. */
  readonly key: string | number;
  readonly email: string | null;
  /** Null where the user has no password. */
  readonly hash: string | null;
}

type Context = Pick<PublishedContext, "query" | "control">;
type Row = [key: string | number, email: string | null, hash: string | null];

/**
 * The account that an address means: the one that is spelled like it, or else the only one that differs by case alone.
 * Null where there is none. Errors: those of the pipeline.
 */
export async function accountByEmail(
  ctx: Context,
  call: EndpointCall,
  email: string,
): Promise<Account | null> {
  const { meansSql } = await readUsers(ctx, call);
  if (meansSql === null) return null;
  const found = await select(ctx, call, { where: `${meansSql} LIMIT 3`, params: [email] });
  return found.find((account) => account.email === email) ?? (found.length === 1 ? found[0] ?? null : null);
}

/** The account with a key, in the form that sessions carry. Null where there is none. Errors: those of the pipeline. */
export async function accountByKey(
  ctx: Context,
  call: EndpointCall,
  userId: string,
): Promise<Account | null> {
  const { key } = await readUsers(ctx, call);
  const params = [userId, numberForm(userId)];
  const [account] = await select(ctx, call, { where: `${quoteIdentifier(key)} IN (?1, ?2)`, params });
  return account ?? null;
}

/**
 * Sets the hash of an account that still has the one that was read: of several calls at once one wins. Null where it
 * has another. Errors: those of the pipeline.
 */
export async function setPassword(
  ctx: Context,
  call: EndpointCall,
  { account, hash }: { readonly account: Account; readonly hash: string },
): Promise<QueryMeta | null> {
  const { table, key } = await readUsers(ctx, call);
  const sql = `UPDATE ${quoteIdentifier(table)} SET ${PASSWORD_COLUMN} = ?1 ` +
    `WHERE ${quoteIdentifier(key)} = ?2 AND ${PASSWORD_COLUMN} IS ?3 RETURNING 1`;
  const params = [hash, account.key, account.hash];
  const { results: [result], meta } = await runOwn(ctx, call, { sql, params }, "endpoint");
  return rowsOf(result?.json).length > 0 ? meta : null;
}

async function select(
  ctx: Context,
  call: EndpointCall,
  { where, params }: { readonly where: string; readonly params: readonly (string | number)[] },
): Promise<Account[]> {
  const { table, key, emailColumn } = await readUsers(ctx, call);
  const email = emailColumn === null ? "NULL" : quoteIdentifier(emailColumn);
  const sql = `SELECT ${quoteIdentifier(key)}, ${email}, ${PASSWORD_COLUMN} FROM ${quoteIdentifier(table)} ` +
    `WHERE ${where}`;
  const { results: [result] } = await runOwn(ctx, call, { sql, params: [...params] }, "service");
  return rowsOf<Row>(result?.json).map(([key, email, hash]) => ({
    key,
    email: typeof email === "string" ? email : null,
    hash: typeof hash === "string" ? hash : null,
  }));
}
