// Cuts the JSON text of a result into pieces of rows, so that no piece takes long to read.
import type { JsonValue } from "../../engine/statement_effect.ts";
import type { ResultTable } from "../query/read_result.ts";

/** A result whose rows are read piece by piece. */
export interface RowChunks {
  readonly columns: string[];
  readonly rows: Generator<JsonValue[][], void, undefined>;
}

const ROWS = ',"rows":[';

/** `json` is that of a result: `{"columns":[…],"rows":[…]` without the closing brace. */
export function rowChunks(json: string, count: number): RowChunks {
  const columnsAt = json.indexOf("[");
  const columnsEnd = endOf(json, columnsAt);
  const columns: string[] = JSON.parse(json.slice(columnsAt, columnsEnd));
  return { columns, rows: chunksOf(json, columnsEnd + ROWS.length, count) };
}

/** The first rows alone: however long the result is, it takes no longer to read them. */
export function firstRows(json: string, count: number): ResultTable {
  const { columns, rows } = rowChunks(json, count);
  const first = rows.next();
  return { columns, rows: first.done ? [] : first.value };
}

function* chunksOf(json: string, start: number, count: number): Generator<JsonValue[][], void, undefined> {
  let at = start;
  while (json.charAt(at) === "[") {
    const from = at;
    let end = at;
    for (let rows = 0; rows < count && json.charAt(at) === "["; rows++) {
      end = endOf(json, at);
      // Past the comma between two rows.
      at = end + 1;
    }
    yield JSON.parse(`[${json.slice(from, end)}]`);
  }
}

const MARKS = /["[\]]/g;

/** The offset behind the list that begins at `at`. */
function endOf(json: string, at: number): number {
  let depth = 0;
  MARKS.lastIndex = at;
  for (let mark = MARKS.exec(json); mark !== null; mark = MARKS.exec(json)) {
    if (mark[0] === '"') MARKS.lastIndex = endOfText(json, mark.index);
    else if (mark[0] === "[") depth++;
    else if (--depth === 0) return mark.index + 1;
  }
  throw new TypeError("the text of a result has no end");
}

/** The offset behind the text whose quote stands at `at`. */
function endOfText(json: string, at: number): number {
  for (let next = json.indexOf('"', at + 1); next !== -1; next = json.indexOf('"', next + 1)) {
    let slashes = 0;
    while (json.charAt(next - 1 - slashes) === "\\") slashes++;
    if (slashes % 2 === 0) return next + 1;
  }
  throw new TypeError("the text of a result has no end");
}
