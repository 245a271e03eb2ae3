// Reads the users table of a sign-up or log-in as it is now, and which of its columns the statement's answer shows.
import { EMAIL_COLUMN } from "../../access/mint_session.ts";
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { foldName } from "../../sql/words/names.ts";
import { quoteIdentifier } from "../../sql/words/quote.ts";
import { shownColumns } from "../../sql/grammar/result_columns.ts";
import { readEmailIndexes } from "../endpoints/spec/email_indexes.ts";
import {
  keyColumn,
  noKey,
  PASSWORD_COLUMN,
  shownIndex,
  usersTableOf,
} from "../endpoints/spec/users_table.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { readTable, type TableDefinition } from "../schema/read_table.ts";
import { readOwnRows } from "../query/read_own.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";

/** Indexes of the answer's columns, -1 for what it does not show. */
export interface UserIndexes {
  readonly key: number;
  readonly hash: number;
}

/** A users table as an endpoint uses it. */
export interface Users {
  /** Its name as the schema spells it, and that of its key. */
  readonly table: string;
  readonly key: string;
  /** `answered` names the answer's columns, for a statement whose text does not tell where they come from. */
  readonly indexesIn: (answered: readonly string[]) => UserIndexes;
  /** Reads the address of the user with a key. Null where the table has no such column. */
  readonly emailSql: string | null;
  /** A condition on `?1`: the addresses that an address may mean. Null where the table has no such column. */
  readonly meansSql: string | null;
  /** Whether an index makes addresses unique in any case; otherwise sign-ups store them in lower case. */
  readonly ignoresCase: boolean;
  /** The column with the address; null as above. */
  readonly emailColumn: string | null;
}

interface CachedUsers {
  readonly databaseId: string;
  readonly schemaVersion: number;
  readonly users: Users;
}

const cached = new WeakMap<EndpointSpec, CachedUsers>();

/** Cached for one version of the schema. Errors: `sql_error` where no key of one column is shown, the pipeline's. */
export async function readUsers(
  ctx: Pick<PublishedContext, "query">,
  call: EndpointCall,
): Promise<Users> {
  const { record: { spec }, target: { databaseId } } = call;
  const schemaVersion = ctx.query.facts.schemaVersion(databaseId);
  const known = cached.get(spec);
  if (known?.databaseId === databaseId && known.schemaVersion === schemaVersion) return known.users;
  const users = await findIn(ctx, call);
  if (schemaVersion >= 0) cached.set(spec, { databaseId, schemaVersion, users });
  return users;
}

/**
 * The address that the users table has for a key. The caller's own spelling proves nothing, and statements of other
 * endpoints rely on the address. Null where there is none. Errors: those of the pipeline.
 */
export async function readEmail(
  ctx: Pick<PublishedContext, "query">,
  call: EndpointCall,
  key: string | number,
): Promise<string | null> {
  const { emailSql } = await readUsers(ctx, call);
  if (emailSql === null) return null;
  const { target, tokenId } = call;
  const [row] = await readOwnRows({ ...ctx.query, target, tokenId }, { sql: emailSql, params: [key] });
  return typeof row?.[0] === "string" ? row[0] : null;
}

async function findIn({ query }: Pick<PublishedContext, "query">, call: EndpointCall): Promise<Users> {
  const { record: { spec }, target, tokenId } = call;
  const { sql } = spec;
  const table = await readTable({ ...query, target, tokenId }, usersTableOf(spec));
  const key = table && keyColumn(table);
  if (table === null || key === null) throw noKey();
  const { tables } = await query.tenants.open(target).schema();
  const columnsOf = new Map(tables.map(({ name, columns }) => [foldName(name), columns]));
  const shown = sql === "" ? null : shownColumns(sql, (name) => columnsOf.get(foldName(name)) ?? null);
  const indexes = (indexOf: (column: string) => number): UserIndexes => (
    { key: indexOf(key), hash: indexOf(PASSWORD_COLUMN) }
  );
  const users = { table: table.name, key, ...await addresses({ ...query, target, tokenId }, call, table) };
  if (shown === null) {
    const indexesIn = (answered: readonly string[]) =>
      indexes((column) => answered.map(foldName).indexOf(foldName(column)));
    return { ...users, indexesIn };
  }
  const told = indexes((column) => shownIndex(table, column, shown));
  if (told.key < 0) throw noKey();
  return { ...users, indexesIn: () => told };
}

/**
 * An address means the account with that address in any case where an index finds it so. Elsewhere it means the one that
 * is spelled like it or in lower case, as sign-ups store it.
 */
async function addresses(
  ctx: StatementsContext,
  { record: { spec: { authConfig } } }: EndpointCall,
  { name, columns }: TableDefinition,
): Promise<Pick<Users, "emailSql" | "meansSql" | "ignoresCase" | "emailColumn">> {
  const wanted = foldName(authConfig?.emailColumn ?? EMAIL_COLUMN);
  // The engine would read a quoted name that is no column as a text.
  const email = columns.find((column) => foldName(column.name) === wanted)?.name ?? null;
  const key = columns.find(({ keyPosition }) => keyPosition > 0)?.name;
  if (email === null || key === undefined) {
    return { emailSql: null, meansSql: null, ignoresCase: false, emailColumn: null };
  }
  const column = quoteIdentifier(email);
  const { anyCase } = await readEmailIndexes(ctx, { table: name, email });
  return {
    emailColumn: email,
    emailSql: `SELECT ${column} FROM ${quoteIdentifier(name)} WHERE ${quoteIdentifier(key)} = ?`,
    ignoresCase: anyCase !== null,
    meansSql: anyCase ?? `${column} IN (?1, lower(?1))`,
  };
}
