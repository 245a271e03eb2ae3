// Finds the stored values of rows that were read as lines: from an exact line itself, else by reading the row again.
import { quoteIdentifier as quoted } from "../../sql/words/quote.ts";
import { boundValue, guarded } from "./stored_values.ts";
import { isExact, lineOf } from "./row_lines.ts";
import { type PageSource, type ReadRow, valuesOf } from "./row_pages.ts";
import { type Answer, type AskedStatement, mayAll, mustAll, type Row, type Work } from "./work.ts";

/** The most rows of one request, and about how many bytes of lines. */
const ROWS_AT_ONCE = 200;
const BYTES_AT_ONCE = 1_000_000;

/** Returns a function that gives the stored values of each of the rows read. */
export function* storedRows(source: PageSource, read: readonly ReadRow[]): Work<(row: ReadRow) => Row> {
  const known = new Map<ReadRow, Row>();
  const doubtful: ReadRow[] = [];
  for (const row of read) {
    if (typeof row !== "string") continue;
    const values = valuesOf(row);
    known.set(row, values);
    if (!isExact(values)) doubtful.push(row);
  }
  for (const some of parts(doubtful)) {
    const keys = some.map((row) => source.keyIndexes.map((index) => known.get(row)?.[index] ?? null));
    for (const [line, ...values] of yield* rowsOfKeys(source, keys)) known.set(String(line), values);
  }
  return (row) => known.get(row) ?? valuesOf(row);
}

function* rowsOfKeys(source: PageSource, keys: readonly Row[]): Work<Row[]> {
  const [answer]: readonly Answer[] = yield* mayAll(source.of, [byKeys(source, keys)]);
  if (answer?.ok) return [...answer.rows];
  // The rows together may be more than a remote engine sends at once.
  if (answer?.failure.kind !== "result_too_large" || keys.length === 1) throw answer?.error;
  const rows: Row[] = [];
  for (const key of keys) rows.push(...(yield* mustAll(source.of, [byKeys(source, [key])])).flat());
  return rows;
}

/** The statement that reads rows by their keys, each row after its line. */
function byKeys({ table, select, order }: PageSource, keys: readonly Row[]): AskedStatement {
  const marks = `(${order.map(() => "?").join(", ")})`;
  const read = select.map(guarded);
  const sql = `SELECT ${lineOf(read)}, ${read.join(", ")} FROM ${quoted(table)} ` +
    `WHERE (${order.join(", ")}) IN (VALUES ${keys.map(() => marks).join(", ")})`;
  // Rows whose texts have to be read as bytes were never lines.
  return { sql, params: keys.flat().map(boundValue) };
}

function* parts(rows: readonly ReadRow[]): Generator<readonly ReadRow[]> {
  for (let start = 0; start < rows.length;) {
    let end = start;
    for (let bytes = 0; end < rows.length && end - start < ROWS_AT_ONCE; end++) {
      bytes += rows[end]?.length ?? 0;
      if (bytes > BYTES_AT_ONCE && end > start) break;
    }
    yield rows.slice(start, end);
    start = end;
  }
}
