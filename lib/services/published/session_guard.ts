// Proves in the call's own transaction that the user of a session still exists: the users table that the session
// names has a row with that key and that address.
import type { SessionUsers } from "../../access/mint_session.ts";
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { AppError, failedWith } from "../../core/errors.ts";
import { classify } from "../../query/classify.ts";
import type { QueryStatement } from "../../query/query_call.ts";
import { foldName, sameName } from "../../sql/words/names.ts";
import { quoteIdentifier } from "../../sql/words/quote.ts";
import { boundStatement } from "../endpoints/spec/bind_inputs.ts";
import { prepareSpec } from "../endpoints/spec/prepare_spec.ts";
import { keyColumn, PASSWORD_COLUMN } from "../endpoints/spec/users_table.ts";
import { readTable } from "../schema/read_table.ts";
import { readOwnRows } from "../query/read_own.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";

type Context = Pick<PublishedContext, "query" | "control">;
type Call = Pick<EndpointCall, "record" | "target" | "tokenId" | "session">;

/** How an endpoint proves the sessions of a users table, at one version of the schema. */
interface Proof {
  readonly databaseId: string;
  readonly schemaVersion: number;
  /** Null: there is no such table with such columns. */
  readonly sql: string | null;
  /** Whether it looks at the password too. */
  readonly checksMark: boolean;
  /** Tables that the endpoint reads, writes or refers to, folded. */
  readonly touched: ReadonlySet<string>;
}

const cached = new WeakMap<EndpointSpec, Map<string, Proof>>();

/**
 * Runs `work` with the statement that proves the session, which is to run in front of the endpoint's own. The guard
 * is null where the session names no users table: then whoever minted it vouches for the user. Errors:
 * `session_invalid` where the users table is gone, or where the endpoint is about the users of another table; those
 * of `work` and of the pipeline.
 */
export async function underSession<Answer>(
  ctx: Context,
  call: Call,
  work: (guard: QueryStatement | null) => Promise<Answer>,
): Promise<Answer> {
  const versionNow = () => ctx.query.facts.schemaVersion(call.target.databaseId);
  for (let isFirst = true;; isFirst = false) {
    const guard = await guardOf(ctx, call);
    const version = versionNow();
    try {
      return await work(guard);
    } catch (error) {
      const isRefused = failedWith(error, "session_invalid");
      // Nothing has run yet, and the user may stand in another table of the new schema.
      if (!isRefused || !isFirst || versionNow() === version) throw error;
    }
  }
}

async function guardOf(ctx: Context, call: Call): Promise<QueryStatement | null> {
  const { session } = call;
  if (session === null || session.users === null) return null;
  const found = await find(ctx, call, session.users);
  const { userId, email, passwordMark } = session;
  const isUnproved = passwordMark !== null && !found.checksMark;
  if (found.sql === null || isUnproved || await isAboutOthers(ctx, call, found, session.users)) {
    // The engine has not confirmed that this is still its schema, so the next call reads it again.
    cached.get(call.record.spec)?.delete(nameOf(session.users));
    throw new AppError("session_invalid");
  }
  const params = [userId, numberForm(userId), email];
  return { sql: found.sql, params: found.checksMark ? [...params, passwordMark] : params };
}

/** A column without a declared type can hold the same key as a number or as a text: both are tried. */
export function numberForm(key: string): string | number {
  const number = Number(key);
  return Number.isSafeInteger(number) && String(number) === key ? number : key;
}

/**
 * Where there are several users tables, neither a key nor an address identifies a user: whoever signs up can choose
 * the address of a user of another table. So the statement must touch the table that the session names.
 */
async function isAboutOthers(
  { control }: Context,
  { record: { spec, databaseId } }: Call,
  { touched }: Proof,
  { table }: SessionUsers,
): Promise<boolean> {
  const namesUser = spec.input.some(({ name }) => name === "$user_id" || name === "$user_email");
  if (!namesUser || touched.has(foldName(table))) return false;
  return (await control.endpoints.usersTables(databaseId)).some((one) => touched.has(foldName(one)));
}

function nameOf({ table, emailColumn }: SessionUsers): string {
  return JSON.stringify([table, emailColumn]);
}

async function find(ctx: Context, call: Call, users: SessionUsers): Promise<Proof> {
  const { record: { spec }, target: { databaseId } } = call;
  const name = nameOf(users);
  const schemaVersion = ctx.query.facts.schemaVersion(databaseId);
  const known = cached.get(spec)?.get(name);
  if (known?.databaseId === databaseId && known.schemaVersion === schemaVersion) return known;
  const tables = await tablesOf(ctx, call);
  // The call above has read the version; a later change makes this entry void.
  const learned = ctx.query.facts.schemaVersion(databaseId);
  const touched = new Set([...tables, ...await referredTo(ctx, call, tables)].map(foldName));
  const found = { databaseId, schemaVersion: learned, ...await guardSql(ctx, call, users), touched };
  // The version of the schema is not known yet, so nothing would tell when a cached proof is void.
  if (learned < 0) return found;
  const ofSpec = cached.get(spec) ?? new Map<string, Proof>();
  cached.set(spec, ofSpec.set(name, found));
  return found;
}

async function tablesOf({ query }: Context, { record: { spec }, target }: Call): Promise<readonly string[]> {
  if (spec.kind === "ask") return spec.askConfig?.allowedTables ?? [];
  if (spec.authConfig !== undefined) return [spec.authConfig.usersTable];
  const database = query.tenants.open(target);
  const statements = prepareSpec(spec).statements.map((one) => boundStatement(one, []));
  const { facts } = await classify(query, target.databaseId, database, statements);
  return facts.flatMap(({ tablesRead, tablesWritten }) => [...tablesRead, ...tablesWritten]);
}

async function referredTo(
  { query }: Context,
  { target, tokenId }: Call,
  tables: readonly string[],
): Promise<readonly string[]> {
  if (tables.length === 0) return [];
  const sql = 'SELECT DISTINCT f."table" FROM json_each(?) AS t, pragma_foreign_key_list(t.value) AS f';
  const reader = { ...query, target, tokenId };
  return (await readOwnRows<[string]>(reader, { sql, params: [JSON.stringify(tables)] })).map(([name]) =>
    name
  );
}

/**
 * A statement that fails, by an overflow, unless the row exists and its password is the one of the log-in: whoever
 * changes it ends the sessions in the same commit.
 */
async function guardSql(
  { query }: Context,
  { target, tokenId }: Call,
  { table: name, emailColumn }: SessionUsers,
): Promise<Pick<Proof, "sql" | "checksMark">> {
  const table = await readTable({ ...query, target, tokenId }, name);
  const key = table && keyColumn(table);
  if (table === null || key === null) return { sql: null, checksMark: false };
  const email = table.columns.find((column) => sameName(column.name, emailColumn))?.name;
  // A session of a table without addresses has none.
  const address = email === undefined ? "NULL" : quoteIdentifier(email);
  const row = `SELECT 1 FROM ${quoteIdentifier(table.name)} WHERE ${quoteIdentifier(key)} IN (?1, ?2)`;
  const checksMark = table.columns.some((column) => foldName(column.name) === PASSWORD_COLUMN);
  const mark = checksMark ? ` AND (?4 IS NULL OR instr(${PASSWORD_COLUMN}, ?4) > 0)` : "";
  const sql = `SELECT CASE WHEN NOT EXISTS (${row} AND ${address} IS ?3${mark}) ` +
    "THEN abs(-9223372036854775808) END";
  return { sql, checksMark };
}
