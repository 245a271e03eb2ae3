// Rows that a write of one table affects, before and after, found by the keys that the statement returns.
import { MAX_COMPARED, movedKeys, type StatementTarget } from "../../engine/statement_target.ts";
import type { PreviewTarget } from "../../engine/preview_target.ts";
import { jsonValue } from "../../engine/result_json.ts";
import type { JsonValue, RowPreview } from "../../engine/statement_effect.ts";
import { quoteIdentifier } from "../../sql/words/quote.ts";
import type { RowForm } from "../../sql/words/row_form.ts";
import type { TenantStatement } from "../tenant_statement.ts";
import { type Answer, type OwnStep, rowsOrNull, type Work } from "./work.ts";

/** Rows shown of a statement. */
export const PREVIEW_ROWS = 10;
/** Rows shown of a statement that a person decides about. */
export const HELD_ROWS = 200;
/** Bytes of values, before and after together, from which on no more than `PREVIEW_ROWS` are shown. */
const MANY_BYTES = 1024 * 1024;

/** Takes back what has run behind the savepoint of a statement that is shown. */
export const UNDO_EFFECT: OwnStep = { sql: "ROLLBACK TO effect" };
const COLUMNS = "SELECT name, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1";

/** What is shown: a statement that has just run behind the savepoint `effect`, and has changed so many rows. */
export interface Previewed {
  readonly statement: TenantStatement;
  readonly target: StatementTarget;
  readonly ownRows: number;
  readonly rowForm: RowForm;
  /** At most so many rows. */
  readonly most: number;
}

/** Leaves the statement undone; null where nothing can be shown, which is no reason to fail it. */
export function* rowPreview(previewed: Previewed): Work<RowPreview | null> {
  const keys = yield* keysAround(previewed);
  if (keys === null) return null;
  const isSmall = keys.after.length <= PREVIEW_ROWS || (yield* areSmall(previewed, keys));
  return yield* rowsAround(previewed, isSmall ? keys : firstKeys(keys, PREVIEW_ROWS));
}

/** Keys of the rows shown, as SQL literals; in pairs where the statement moves rows, or adds some and changes others. */
interface ShownKeys {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly paired: boolean;
}

/** Leaves the statement run; null where nothing can be shown. */
function* keysAround(previewed: Previewed): Work<ShownKeys | null> {
  const { statement, target: { target, unmoved }, ownRows, most } = previewed;
  const keysOf = (text: Pick<TenantStatement, "sql" | "params">, end: number, keys: number) =>
    keysStep(previewed, { ...text, end, most: keys });
  if (unmoved === null) {
    const [, run] = yield { steps: [UNDO_EFFECT, keysOf(statement, target.end, most)] };
    const keys = keysIn(run);
    if (keys === null || target.verb !== "INSERT") {
      return keys && { before: keys, after: keys, paired: false };
    }
    // An upsert may have come upon a row several times.
    const each = [...new Set(keys)];
    return { before: each, after: each, paired: true };
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
  return before && firstKeys({ before, after, paired: true }, most);
}

/** Runs the statement so that it returns the keys of its rows. */
function keysStep(
  { statement, target: { target } }: Previewed,
  { sql, params, end, most }: Pick<TenantStatement, "sql" | "params"> & { end: number; most: number },
): OwnStep {
  return {
    sql: returningKeys(sql, { keys: target.keys, end }),
    params: params.slice(0, target.parameters),
    level: statement.level,
    most,
  };
}

/**
 * Whether the values of all these rows may be held in memory at once. Leaves the statement run. Where they cannot be
 * measured (a table of very many columns) they count as large.
 */
function* areSmall(previewed: Previewed, { before, after }: ShownKeys): Work<boolean> {
  const { statement, target: { target } } = previewed;
  const columns = yield* rowsOrNull({ sql: COLUMNS, params: [target.table] });
  if (columns === null) return false;
  const lengths = columns.map(([name]) =>
    `coalesce(length(CAST(${quoteIdentifier(String(name))} AS BLOB)), 0)`
  );
  const bytesOf = (keys: readonly string[]): OwnStep => ({
    sql: `SELECT coalesce(sum(${lengths.join(" + ")}), 0) ${fromKeys(target.table, target.keys, keys)}`,
  });
  const again = keysStep(previewed, { ...statement, end: target.end, most: PREVIEW_ROWS });
  const answers = yield { steps: [UNDO_EFFECT, bytesOf(before), again, bytesOf(after)] };
  if (answers.some(({ ok }) => !ok)) return false;
  const [, bytesBefore, , bytesAfter] = answers;
  return sizeIn(bytesBefore) + sizeIn(bytesAfter) <= MANY_BYTES;
}

function sizeIn(answer: Answer | undefined): number {
  return answer?.ok ? Number(answer.rows[0]?.[0]) : Infinity;
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
  const [ran, undone] = [answers.slice(0, selectsAfter.length), answers.slice(selectsAfter.length + 1, -1)];
  // Where a trigger has taken a row away again, those behind it would stand beside what was another row.
  if (target.verb !== "DELETE" && valuesOf(ran).length !== after.length) return null;
  const rowsOf = (some: readonly Answer[]): JsonValue[][] =>
    valuesOf(some).map((row) => row.map((value) => jsonValue(value, rowForm)));
  const columns = valuesOf(answers.slice(-1)).map(([name, at]) => ({ name: String(name), at: Number(at) }));
  return {
    table: target.table,
    columns: columns.map(({ name }) => name),
    keys: columns.filter(({ at }) => at > 0).sort((a, b) => a.at - b.at).map(({ name }) => name),
    before: rowsOf(undone),
    after: rowsOf(target.verb === "INSERT" ? metFirst(ran, undone) : ran),
  };
}

/** The answers after an INSERT in the order in which those before have a row, then those of the rows that it adds. */
function metFirst(ran: readonly Answer[], undone: readonly Answer[]): Answer[] {
  const met = undone.map(hasRow);
  return [...ran.filter((_, at) => met[at]), ...ran.filter((_, at) => !met[at])];
}

function hasRow(answer: Answer): boolean {
  return valuesOf([answer]).length > 0;
}

function valuesOf(answers: readonly Answer[]) {
  return answers.flatMap((answer) => answer.ok ? answer.rows : []);
}

function firstKeys({ before, after, paired }: ShownKeys, most: number): ShownKeys {
  return { before: before.slice(0, most), after: after.slice(0, most), paired };
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
