// What makes a table a users table: a key of one column, which sessions carry as `sub`, and where an answer shows it.
import type { EndpointSpec } from "../../../core/endpoint_spec.ts";
import { AppError } from "../../../core/errors.ts";
import { foldName, sameName } from "../../../sql/words/names.ts";
import type { ShownColumn } from "../../../sql/grammar/result_columns.ts";
import type { TableDefinition } from "../../schema/read_table.ts";

/** The column of a users table that holds the hash of the password. */
export const PASSWORD_COLUMN = "password_hash";

/** The users table of an endpoint for accounts, as its specification names it. */
export function usersTableOf({ authConfig }: Pick<EndpointSpec, "authConfig">): string {
  return authConfig?.usersTable ?? "";
}

/** The column of the primary key. Null where there is none, or one of several columns. */
export function keyColumn({ columns }: TableDefinition): string | null {
  const [key, ...others] = columns.filter(({ keyPosition }) => keyPosition > 0);
  return key === undefined || others.length > 0 ? null : key.name;
}

/** The index of a column of the table in an answer, -1 where the answer does not show it. */
export function shownIndex(
  table: TableDefinition,
  column: string,
  shown: readonly ShownColumn[],
): number {
  const names = [column, ...table.keyIsRowid && column === keyColumn(table) ? ["rowid"] : []].map(foldName);
  return shown.findIndex(({ source }) =>
    source !== null && sameName(source.table, table.name) &&
    names.includes(foldName(source.column))
  );
}

/** The failure of an endpoint whose statement shows no key that a session could carry. */
export function noKey(): AppError {
  return new AppError("sql_error", {
    message: "Tell the owner of this endpoint; its statement gives no user",
  });
}
