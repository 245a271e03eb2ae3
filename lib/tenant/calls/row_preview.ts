// Rows that an UPDATE or DELETE of one table affects, before and after, found by the keys that the statement returns.
import { MAX_COMPARED, movedKeys, type StatementTarget } from "../../engine/statement_target.ts";
import type { PreviewTarget } from "../../engine/preview_target.ts";
import { jsonValue } from "../../engine/result_json.ts";
import type { JsonValue, RowPreview } from "../../engine/statement_effect.ts";
import { quoteIdentifier } from "../../sql/quote.ts";
import type { RowForm } from "../../sql/row_form.ts";
import type { TenantStatement } from "../tenant_store.ts";
import { type Answer, type OwnStep, rowsOrNull, type Work } from "./work.ts";

/** Rows shown of a statement. */
const PREVIEW_ROWS = 10;

/** Takes back what has run behind the savepoint of a statement that is shown. */
export const UNDO_EFFECT: OwnStep = { sql: "ROLLBACK TO effect" };
const COLUMNS = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1";

/** What is shown: a statement that has just run behind the savepoint `effect`, and has changed so many rows. */
export interface Previewed {
  readonly statement: TenantStatement;
  readonly target: StatementTarget;
  readonly ownRows: number;
  readonly rowForm: RowForm;
}

/** Leaves the statement undone; null where nothing can be shown, which is no reason to fail it. */
export function* rowPreview(previewed: Previewed): Work<RowPreview | null> {
  const keys = yield* keysAround(previewed);
  return keys && (yield* rowsAround(previewed, keys));
}

/** Keys of the rows shown, as SQL literals; in pairs where the statement moves rows. */
interface ShownKeys {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly paired: boolean;
}

/** Leaves the statement run; null where nothing can be shown. */
function* keysAround({ statement, target: { target, unmoved }, ownRows }: Previewed): Work<ShownKeys | null> {
  const keysOf = ({ sql, params }: Pick<TenantStatement, "sql" | "params">, end: number, most: number) => ({
    sql: returningKeys(sql, { keys: target.keys, end }),
    params: params.slice(0, target.parameters),
    level: statement.level,
    most,
  });
  if (unmoved === null) {
    const [, run] = yield { steps: [UNDO_EFFECT, keysOf(statement, target.end, PREVIEW_ROWS)] };
    const keys = keysIn(run);
    return keys && { before: keys, after: keys, paired: false };
  }
  // An UPDATE that changes keys is also run without changing them: so it tells where the rows were.
  const [, still, changes, , run] = yield {
    steps: [
      UNDO_EFFECT,
      keysOf(unmoved, unmoved.sql.length, MAX_COMPARED),
      { sql: "SELECT changes()" },
      UNDO_EFFECT,
      keysOf(statement, target.end, MAX_COMPARED),
    ],
  };
  const [met, after] = [keysIn(still), keysIn(run)];
  if (met === null || after === null || !changes?.ok) return null;
  const metRows = Number(changes.rows[0]?.[0]);
  let before: readonly string[] | null = met;
  if (metRows !== ownRows) before = metRows > MAX_COMPARED ? null : yield* movedOf(target, met, after);
  return before && { before: shown(before), after: shown(after), paired: true };
}

/** Which of the rows that the statement has met it has moved. It has just run. */
function* movedOf(
  target: PreviewTarget,
  met: readonly string[],
  after: readonly string[],
): Work<readonly string[] | null> {
  if (met.length === 0) return null;
  const there = yield* rowsOrNull({ sql: keysThere(target, met) });
  return there && movedKeys(met, after, there.map(([key]) => String(key)));
}

function* rowsAround(
  { target: { target }, rowForm }: Previewed,
  { before, after, paired }: ShownKeys,
): Work<RowPreview | null> {
  if (after.length === 0) return null;
  // Pairs stay side by side where the key itself changes; otherwise the key's order reads better.
  const selects = (keys: readonly string[]) =>
    (paired ? keys.map((key) => [key]) : [keys]).map((group) => ({ sql: selectByKeys(target, group) }));
  const [selectsAfter, selectsBefore] = [target.verb === "DELETE" ? [] : selects(after), selects(before)];
  const answers = yield {
    steps: [...selectsAfter, UNDO_EFFECT, ...selectsBefore, { sql: COLUMNS, params: [target.table] }],
  };
  if (answers.some(({ ok }) => !ok)) return null;
  const rowsOf = (some: readonly Answer[]): JsonValue[][] =>
    some.flatMap((answer) => answer.ok ? answer.rows : [])
      .map((row) => row.map((value) => jsonValue(value, rowForm)));
  return {
    table: target.table,
    columns: rowsOf(answers.slice(-1)).map(([name]) => String(name)),
    before: rowsOf(answers.slice(selectsAfter.length + 1, -1)),
    after: rowsOf(answers.slice(0, selectsAfter.length)),
  };
}

function shown(keys: readonly string[]): readonly string[] {
  return keys.slice(0, PREVIEW_ROWS);
}

function keysIn(answer: Answer | undefined): string[] | null {
  return answer?.ok ? answer.rows.map(([key]) => String(key)) : null;
}

/** The statement so that it returns the keys of its rows as SQL literals. */
function returningKeys(sql: string, { keys, end }: Pick<PreviewTarget, "keys" | "end">): string {
  return `${sql.slice(0, end)} RETURNING ${literalOf(keys)}`;
}

/** The SELECT of those key literals at which there is a row. */
function keysThere({ table, keys }: PreviewTarget, literals: readonly string[]): string {
  return `SELECT ${literalOf(keys)} ${fromKeys(table, keys, literals)}`;
}

/** The SELECT of rows by key literals. */
function selectByKeys({ table, keys }: PreviewTarget, literals: readonly string[]): string {
  return `SELECT * ${fromKeys(table, keys, literals)} ORDER BY ${keys.join(", ")}`;
}

function fromKeys(table: string, keys: readonly string[], literals: readonly string[]): string {
  const values = literals.map((key) => `(${key})`).join(", ");
  return `FROM ${quoteIdentifier(table)} WHERE (${keys.join(", ")}) IN (VALUES ${values})`;
}

function literalOf(keys: readonly string[]): string {
  // `quote` ends a text at U+0000.
  return keys.map((key) =>
    `CASE typeof(${key}) WHEN 'text' THEN 'CAST(x''' || hex(${key}) || ''' AS TEXT)' ELSE quote(${key}) END`
  ).join(" || ',' || ");
}
