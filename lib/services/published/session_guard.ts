// What proves in the call's own transaction that the user of a sign-up's or log-in's session is still there: the row of
// that key with that address, in the users table that the session names.
import { AppError } from "../../core/errors.ts";
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { classify } from "../../query/classify.ts";
import { plainCall } from "../../query/plain_call.ts";
import type { QueryStatement } from "../../query/query_call.ts";
import { run } from "../../query/run.ts";
import { quoteIdentifier } from "../../sql/quote.ts";
import { readTable } from "../endpoints/scaffold/read_table.ts";
import { foldName } from "../schema/fold_name.ts";
import { rowsOf } from "../schema/read_rows.ts";
import type { EndpointCall, EndpointSession, PublishedContext } from "./published_context.ts";
import { keyColumn } from "./users_table.ts";

type Context = Pick<PublishedContext, "query" | "control">;
type Call = Pick<EndpointCall, "record" | "target" | "tokenId" | "session">;
type Users = NonNullable<EndpointSession["users"]>;

/** What a session of a users table meets at an endpoint, at one version of the schema. */
interface Kept {
  readonly databaseId: string;
  readonly schemaVersion: number;
  /** Null: there is no such table with such columns. */
  readonly sql: string | null;
  /** Tables that the endpoint reads, writes or refers to, folded. */
  readonly touched: ReadonlySet<string>;
}

const kept = new WeakMap<EndpointSpec, Map<string, Kept>>();

/**
 * What `work` answers, given what is to run in front of the endpoint's statement; null where whoever minted the session
 * vouches for it. Errors: `session_invalid` where the users table is gone, or where the endpoint is about the users of
 * another one; those of `work` and of the pipeline.
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
      const isRefused = error instanceof AppError && error.code === "session_invalid";
      // Nothing has run, and in another schema the user may stand elsewhere.
      if (!isRefused || !isFirst || versionNow() === version) throw error;
    }
  }
}

async function guardOf(ctx: Context, call: Call): Promise<QueryStatement | null> {
  const { session } = call;
  if (session === null || session.users === null) return null;
  const found = await find(ctx, call, session.users);
  if (found.sql === null || await isAboutOthers(ctx, call, found, session.users)) {
    // Nothing has asked the engine whether its schema is still that one: the next call learns it anew.
    kept.get(call.record.spec)?.delete(nameOf(session.users));
    throw new AppError("session_invalid");
  }
  return { sql: found.sql, params: [session.userId, numberForm(session.userId), session.email] };
}

/** A key is a number or a text in a column that is declared as neither. */
function numberForm(key: string): string | number {
  const number = Number(key);
  return Number.isSafeInteger(number) && String(number) === key ? number : key;
}

/**
 * With several users tables neither a key nor an address tells a user, for whoever signs up may give another's address:
 * they are of the table that the statement has to do with.
 */
async function isAboutOthers(
  { control }: Context,
  { record: { spec, databaseId } }: Call,
  { touched }: Kept,
  { table }: Users,
): Promise<boolean> {
  const namesUser = spec.input.some(({ name }) => name === "$user_id" || name === "$user_email");
  if (!namesUser || touched.has(foldName(table))) return false;
  return (await control.endpoints.usersTables(databaseId)).some((one) => touched.has(foldName(one)));
}

function nameOf({ table, emailColumn }: Users): string {
  return JSON.stringify([table, emailColumn]);
}

async function find(ctx: Context, call: Call, users: Users): Promise<Kept> {
  const { record: { spec }, target: { databaseId } } = call;
  const name = nameOf(users);
  const schemaVersion = ctx.query.facts.schemaVersion(databaseId);
  const known = kept.get(spec)?.get(name);
  if (known?.databaseId === databaseId && known.schemaVersion === schemaVersion) return known;
  const tables = await tablesOf(ctx, call);
  // Learned by now, and a later change makes what follows void.
  const learned = ctx.query.facts.schemaVersion(databaseId);
  const touched = new Set([...tables, ...await referredTo(ctx, call, tables)].map(foldName));
  const found = { databaseId, schemaVersion: learned, sql: await guardSql(ctx, call, users), touched };
  const ofSpec = kept.get(spec) ?? new Map<string, Kept>();
  kept.set(spec, ofSpec.set(name, found));
  return found;
}

async function tablesOf({ query }: Context, { record: { spec }, target }: Call): Promise<readonly string[]> {
  if (spec.kind === "ask") return spec.askConfig?.allowedTables ?? [];
  const database = query.tenants.open(target.databaseId, target.namespaceId);
  const params = spec.input.map(() => null);
  const { facts: [facts] } = await classify(query, target.databaseId, database, [{ sql: spec.sql, params }]);
  return facts === undefined ? [] : [...facts.tablesRead, ...facts.tablesWritten];
}

async function referredTo(
  { query }: Context,
  { target, tokenId }: Call,
  tables: readonly string[],
): Promise<readonly string[]> {
  if (tables.length === 0) return [];
  const sql = 'SELECT DISTINCT f."table" FROM json_each(?) AS t, pragma_foreign_key_list(t.value) AS f';
  const statements = [{ sql, params: [JSON.stringify(tables)] }];
  const { results } = await run(query, plainCall({ target, tokenId, operation: "service", statements }));
  return rowsOf<[string]>(results[0]?.json).map(([name]) => name);
}

/** Fails, by an overflow, unless the row is there. */
async function guardSql(
  { query }: Context,
  { target, tokenId }: Call,
  { table: name, emailColumn }: Users,
): Promise<string | null> {
  const table = await readTable({ ...query, target, tokenId }, name);
  const key = table && keyColumn(table);
  if (table === null || key === null) return null;
  const email = table.columns.find((column) => foldName(column.name) === foldName(emailColumn))?.name;
  // A session of a table without addresses has none.
  const address = email === undefined ? "NULL" : quoteIdentifier(email);
  const row = `SELECT 1 FROM ${quoteIdentifier(table.name)} WHERE ${quoteIdentifier(key)} IN (?1, ?2)`;
  return `SELECT CASE WHEN NOT EXISTS (${row} AND ${address} IS ?3) THEN abs(-9223372036854775808) END`;
}
