// The users table behind a sign-up or log-in, as it is now, and what the statement's answer shows of it.
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { shownColumns } from "../../sql/result_columns.ts";
import { readTable } from "../endpoints/scaffold/read_table.ts";
import { foldName } from "../schema/fold_name.ts";
import { noKey } from "./issue_session.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";
import { EMAIL, keyColumn, PASSWORD, placeShown } from "./users_table.ts";

/** Places in the answer, -1 for what it does not show. */
export interface UserPlaces {
  readonly key: number;
  readonly hash: number;
  readonly email: number;
}

/** `answered`: names of the answer's columns, for a statement whose text does not tell where they come from. */
type FindPlaces = (answered: readonly string[]) => UserPlaces;

interface Kept {
  readonly databaseId: string;
  readonly schemaVersion: number;
  readonly find: FindPlaces;
}

const kept = new WeakMap<EndpointSpec, Kept>();

/** Errors: `sql_error` where no key of one column is shown, those of the pipeline. */
export async function readUsers(
  ctx: Pick<PublishedContext, "query">,
  call: EndpointCall,
): Promise<FindPlaces> {
  const { record: { spec }, target: { databaseId } } = call;
  const schemaVersion = ctx.query.facts.schemaVersion(databaseId);
  const known = kept.get(spec);
  if (known?.databaseId === databaseId && known.schemaVersion === schemaVersion) return known.find;
  const find = await findIn(ctx, call);
  if (schemaVersion >= 0) kept.set(spec, { databaseId, schemaVersion, find });
  return find;
}

async function findIn({ query }: Pick<PublishedContext, "query">, call: EndpointCall): Promise<FindPlaces> {
  const { record: { spec: { sql, authConfig } }, target, tokenId } = call;
  const table = await readTable({ ...query, target, tokenId }, authConfig?.usersTable ?? "");
  const key = table && keyColumn(table);
  if (table === null || key === null) throw noKey();
  const { tables } = await query.tenants.open(target.databaseId, target.namespaceId).schema();
  const columnsOf = new Map(tables.map(({ name, columns }) => [foldName(name), columns]));
  const shown = shownColumns(sql, (name) => columnsOf.get(foldName(name)) ?? null);
  const email = authConfig?.emailColumn ?? EMAIL;
  const places = (place: (column: string) => number): UserPlaces => (
    { key: place(key), hash: place(PASSWORD), email: place(email) }
  );
  if (shown === null) {
    return (answered) => places((column) => answered.map(foldName).indexOf(foldName(column)));
  }
  const told = places((column) => placeShown(table, column, shown));
  if (told.key < 0) throw noKey();
  return () => told;
}
