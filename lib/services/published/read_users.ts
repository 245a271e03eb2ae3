// The users table behind a sign-up or log-in, as it is now, and what the statement's answer shows of it.
import { EMAIL_COLUMN } from "../../access/mint_session.ts";
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { plainCall } from "../../query/plain_call.ts";
import { run } from "../../query/run.ts";
import { quoteIdentifier } from "../../sql/quote.ts";
import { shownColumns } from "../../sql/result_columns.ts";
import { readTable } from "../endpoints/scaffold/read_table.ts";
import type { ScaffoldTable } from "../endpoints/scaffold/scaffold_table.ts";
import { foldName } from "../schema/fold_name.ts";
import { rowsOf } from "../schema/read_rows.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";
import { keyColumn, noKey, PASSWORD, placeShown } from "./users_table.ts";

/** Places in the answer, -1 for what it does not show. */
export interface UserPlaces {
  readonly key: number;
  readonly hash: number;
}

export interface Users {
  /** Its name as the schema spells it. */
  readonly table: string;
  /** `answered`: names of the answer's columns, for a statement whose text does not tell where they come from. */
  readonly placesIn: (answered: readonly string[]) => UserPlaces;
  /** Reads the address of the user of a key; null where the table has no such column. */
  readonly emailSql: string | null;
}

interface Kept {
  readonly databaseId: string;
  readonly schemaVersion: number;
  readonly users: Users;
}

const kept = new WeakMap<EndpointSpec, Kept>();

/** Errors: `sql_error` where no key of one column is shown, those of the pipeline. */
export async function readUsers(
  ctx: Pick<PublishedContext, "query">,
  call: EndpointCall,
): Promise<Users> {
  const { record: { spec }, target: { databaseId } } = call;
  const schemaVersion = ctx.query.facts.schemaVersion(databaseId);
  const known = kept.get(spec);
  if (known?.databaseId === databaseId && known.schemaVersion === schemaVersion) return known.users;
  const users = await findIn(ctx, call);
  if (schemaVersion >= 0) kept.set(spec, { databaseId, schemaVersion, users });
  return users;
}

/**
 * The address that the users table has for a key: statements of other endpoints rely on it, and what a caller typed
 * proves nothing. Null where there is none. Errors: those of the pipeline.
 */
export async function readEmail(
  ctx: Pick<PublishedContext, "query">,
  call: EndpointCall,
  key: string | number,
): Promise<string | null> {
  const { emailSql } = await readUsers(ctx, call);
  if (emailSql === null) return null;
  const { target, tokenId } = call;
  const statements = [{ sql: emailSql, params: [key] }];
  const { results: [result] } = await run(
    ctx.query,
    plainCall({ target, tokenId, operation: "service", statements }),
  );
  const [row] = rowsOf(result?.json);
  return typeof row?.[0] === "string" ? row[0] : null;
}

async function findIn({ query }: Pick<PublishedContext, "query">, call: EndpointCall): Promise<Users> {
  const { record: { spec: { sql, authConfig } }, target, tokenId } = call;
  const table = await readTable({ ...query, target, tokenId }, authConfig?.usersTable ?? "");
  const key = table && keyColumn(table);
  if (table === null || key === null) throw noKey();
  const { tables } = await query.tenants.open(target.databaseId, target.namespaceId).schema();
  const columnsOf = new Map(tables.map(({ name, columns }) => [foldName(name), columns]));
  const shown = shownColumns(sql, (name) => columnsOf.get(foldName(name)) ?? null);
  const places = (place: (column: string) => number): UserPlaces => (
    { key: place(key), hash: place(PASSWORD) }
  );
  const emailSql = emailByKey(table, key, authConfig?.emailColumn ?? EMAIL_COLUMN);
  if (shown === null) {
    const placesIn = (answered: readonly string[]) =>
      places((column) => answered.map(foldName).indexOf(foldName(column)));
    return { table: table.name, placesIn, emailSql };
  }
  const told = places((column) => placeShown(table, column, shown));
  if (told.key < 0) throw noKey();
  return { table: table.name, placesIn: () => told, emailSql };
}

function emailByKey({ name, columns }: ScaffoldTable, key: string, email: string): string | null {
  // A name that is no column's would be read as a text.
  if (!columns.some((column) => foldName(column.name) === foldName(email))) return null;
  return `SELECT ${quoteIdentifier(email)} FROM ${quoteIdentifier(name)} WHERE ${quoteIdentifier(key)} = ?`;
}
