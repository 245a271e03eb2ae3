// Values of rows that were read as lines: out of the line where it says them exactly, else asked for.
import { quoteIdentifier as quoted } from "../../sql/quote.ts";
import { isExact, lineOf } from "./row_lines.ts";
import { type PageSource, type ReadRow, valuesOf } from "./row_pages.ts";
import { type Answer, type AskedStatement, mayAll, mustAll, type Row, type Work } from "./work.ts";

/** Rows asked for at once, and bytes of their lines, about. */
const ROWS_AT_ONCE = 200;
const BYTES_AT_ONCE = 1_000_000;

/** Tells of each of the rows read what is stored. */
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
    const keys = some.map((row) => source.places.map((place) => known.get(row)?.[place] ?? null));
    for (const [line, ...values] of yield* rowsOfKeys(source, keys)) known.set(String(line), values);
  }
  return (row) => known.get(row) ?? valuesOf(row);
}

function* rowsOfKeys(source: PageSource, keys: readonly Row[]): Work<Row[]> {
  const [answer]: readonly Answer[] = yield* mayAll(source.of, [byKeys(source, keys)]);
  if (answer?.ok) return [...answer.rows];
  // Together they may be more than a remote engine sends at once.
  if (answer?.failure.kind !== "result_too_large" || keys.length === 1) throw answer?.error;
  const rows: Row[] = [];
  for (const key of keys) rows.push(...(yield* mustAll(source.of, [byKeys(source, [key])])).flat());
  return rows;
}

/** Each row behind its line. */
function byKeys({ table, select, order }: PageSource, keys: readonly Row[]): AskedStatement {
  const marks = `(${order.map(() => "?").join(", ")})`;
  const sql = `SELECT ${lineOf(select)}, ${select.join(", ")} FROM ${quoted(table)} ` +
    `WHERE (${order.join(", ")}) IN (VALUES ${keys.map(() => marks).join(", ")})`;
  return { sql, params: keys.flat() };
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
