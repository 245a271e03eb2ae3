// Rows that an UPDATE or DELETE of one table affects, before and after, found by the keys that the statement returns.
import { quoteIdentifier } from "../sql/quote.ts";
import type { Connection } from "./connection.ts";
import { MAX_COMPARED, movedKeys, type PreviewedStatement, unmovedForm } from "./moved_rows.ts";
import { type PreviewTarget, targetOf } from "./preview_target.ts";
import type { JsonValue, RowPreview } from "./statement_effect.ts";
import { type EngineValue, jsonValue } from "./result_json.ts";

/** Rows shown of a statement. */
export const PREVIEW_ROWS = 10;

/** Runs the statement behind the savepoint `effect` and undoes it; null where no single table's rows can be told. */
export function rowPreview(
  connection: Connection,
  integersAsStrings: boolean,
  statement: PreviewedStatement,
  ownRows: number,
): RowPreview | null {
  try {
    const target = targetOf(connection, statement[0]);
    const keys = target && keysAround(connection, statement, target, ownRows);
    return target && keys && previewOf(connection, integersAsStrings, target, keys);
  } catch {
    // The statement itself has run: what cannot be shown of it is no reason to fail it.
    return null;
  } finally {
    connection.internalRun("ROLLBACK TO effect");
  }
}

/** Keys of the rows shown, in pairs where the statement moves rows. */
interface ShownKeys {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly paired: boolean;
}

/** Leaves the statement run; null where nothing can be shown. */
function keysAround(
  connection: Connection,
  statement: PreviewedStatement,
  target: PreviewTarget,
  ownRows: number,
): ShownKeys | null {
  const unmoved = target.verb === "UPDATE" ? unmovedForm(statement, target) : null;
  const keysOf = ([sql, params, level]: PreviewedStatement, count: number, end = sql.length) => {
    const text = returningKeys(sql, { ...target, end });
    return connection.firstRows(level, text, params.slice(0, target.parameters), count).map(([key]) =>
      String(key)
    );
  };
  if (unmoved === null) {
    const keys = keysOf(statement, PREVIEW_ROWS, target.end);
    return { before: keys, after: keys, paired: false };
  }
  const met = keysOf(unmoved, MAX_COMPARED);
  const metRows = Number(connection.internalRow("SELECT changes()")?.[0]);
  connection.internalRun("ROLLBACK TO effect");
  const after = keysOf(statement, MAX_COMPARED, target.end);
  let before: readonly string[] | null = met;
  if (metRows !== ownRows) {
    if (metRows > MAX_COMPARED) return null;
    const there = jsonRows(connection, keysThere(target, met), false).map(([key]) => String(key));
    before = movedKeys(met, after, there);
  }
  return before &&
    { before: before.slice(0, PREVIEW_ROWS), after: after.slice(0, PREVIEW_ROWS), paired: true };
}

function previewOf(
  connection: Connection,
  integersAsStrings: boolean,
  target: PreviewTarget,
  { before, after, paired }: ShownKeys,
): RowPreview | null {
  if (after.length === 0) return null;
  const rows = (found: readonly string[]) => {
    // Pairs stay side by side where the key itself changes; otherwise the key's order reads better.
    const groups = paired ? found.map((key) => [key]) : [found];
    return groups.flatMap((group) => jsonRows(connection, selectByKeys(target, group), integersAsStrings));
  };
  const rowsAfter = target.verb === "DELETE" ? [] : rows(after);
  connection.internalRun("ROLLBACK TO effect");
  const columns = connection.internalRows(
    "SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1",
    target.table,
  );
  return {
    table: target.table,
    columns: columns.map(([name]) => String(name)),
    before: rows(before),
    after: rowsAfter,
  };
}

/** Rows of a SELECT of the service's own, as the API writes values. Not kept prepared: no text is used twice. */
export function jsonRows(connection: Connection, select: string, integersAsStrings: boolean): JsonValue[][] {
  const statement = connection.database.prepare(select);
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  return statement.all().map((row) =>
    Array.isArray(row) ? row.map((value: EngineValue) => jsonValue(value, integersAsStrings)) : []
  );
}

/** The statement so that it returns the keys of its rows as SQL literals. */
export function returningKeys(sql: string, { keys, end }: Pick<PreviewTarget, "keys" | "end">): string {
  return `${sql.slice(0, end)} RETURNING ${literalOf(keys)}`;
}

/** The SELECT of those of such literals at which there is a row. */
export function keysThere({ table, keys }: PreviewTarget, literals: readonly string[]): string {
  const values = literals.map((key) => `(${key})`).join(", ");
  return `SELECT ${literalOf(keys)} FROM ${quoteIdentifier(table)} WHERE (${
    keys.join(", ")
  }) IN (VALUES ${values})`;
}

function literalOf(keys: readonly string[]): string {
  // `quote` ends a text at U+0000.
  return keys.map((key) =>
    `CASE typeof(${key}) WHEN 'text' THEN 'CAST(x''' || hex(${key}) || ''' AS TEXT)' ELSE quote(${key}) END`
  ).join(" || ',' || ");
}

/** The SELECT of rows by such literals. */
export function selectByKeys({ table, keys }: PreviewTarget, literals: readonly string[]): string {
  const names = keys.join(", ");
  const values = literals.map((key) => `(${key})`).join(", ");
  return `SELECT * FROM ${quoteIdentifier(table)} WHERE (${names}) IN (VALUES ${values}) ORDER BY ${names}`;
}
