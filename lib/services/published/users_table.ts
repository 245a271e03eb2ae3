// What makes a table one of users: the key of one column that sessions carry as `sub`, and where an answer shows it.
import { AppError } from "../../core/errors.ts";
import type { ShownColumn } from "../../sql/result_columns.ts";
import type { ScaffoldTable } from "../endpoints/scaffold/scaffold_table.ts";
import { foldName } from "../schema/fold_name.ts";

/** Specification, Users table. */
export const PASSWORD = "password_hash";

/** Null where there is no primary key or one of several columns. */
export function keyColumn({ columns }: ScaffoldTable): string | null {
  const [key, ...others] = columns.filter(({ keyPlace }) => keyPlace > 0);
  return key === undefined || others.length > 0 ? null : key.name;
}

/** Place of a column of the table in an answer, -1 where it is not shown. */
export function placeShown(
  table: ScaffoldTable,
  column: string,
  shown: readonly ShownColumn[],
): number {
  const names = [column, ...table.keyIsRowid && column === keyColumn(table) ? ["rowid"] : []].map(foldName);
  return shown.findIndex(({ source }) =>
    source !== null && foldName(source.table) === foldName(table.name) &&
    names.includes(foldName(source.column))
  );
}

export function noKey(): AppError {
  return new AppError("sql_error", {
    message: "Tell the owner of this endpoint; its statement gives no user",
  });
}
