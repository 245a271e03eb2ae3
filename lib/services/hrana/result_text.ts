// Results of statements as the JSON text that the protocol wants. The engine has written most of it.
import type { QueryAnswer } from "../../query/query_call.ts";
import { typedResultJson, withoutRowid } from "../../engine/typed_result.ts";
import type { DoorStatement } from "./door_statement.ts";

/** The result of a statement that the engine never saw, such as BEGIN. */
export const NOTHING = finished(typedResultJson("[]", "[]", { changes: 0, rowid: null }), [0, 0, 0]);

/** The result of `SELECT 1` of which no rows are wanted. */
export const ONE_COLUMN = finished(
  typedResultJson('[{"name":"1","decltype":null}]', "[]", { changes: 0, rowid: null }),
  [0, 0, 0],
);

/** The results of a call. */
export function resultTexts(
  statements: readonly DoorStatement[],
  { results, meta }: QueryAnswer,
): string[] {
  return results.map(({ json, rowsRead, rowsWritten }, at) =>
    own(statements[at], json, [rowsRead, rowsWritten, at === 0 ? meta.durationMs : 0])
  );
}

/** A result that a batch has kept before it stopped, as its error has it. */
interface KeptResult {
  readonly rowsRead: number;
  readonly rowsWritten: number;
}

/** The results of statements that stay though a later one has failed. Guarantee: `data` is that of such an error, or absent. */
export function keptTexts(statements: readonly DoorStatement[], data: unknown): string[] {
  const kept: readonly KeptResult[] = Array.isArray(data) ? data : [];
  return kept.map(({ rowsRead, rowsWritten, ...result }, at) =>
    own(statements[at], infiniteJson(result).slice(0, -1), [rowsRead, rowsWritten, 0])
  );
}

/** JSON of a parsed result or row, whose infinities would otherwise be written as null. */
export function infiniteJson(value: unknown): string {
  let some = false;
  const text = JSON.stringify(value, (_, one) => {
    if (one !== Infinity && one !== -Infinity) return one;
    some = true;
    return one > 0 ? "1e999" : "-1e999";
  });
  // Inside of a string every quotation mark has a backslash.
  return some ? text.replaceAll(/"float","value":"(-?1e999)"\}/g, '"float","value":$1}') : text;
}

function own(
  statement: DoorStatement | undefined,
  json: string,
  figures: readonly [read: number, written: number, ms: number],
): string {
  const read = statement?.text.read;
  const adds = read?.ok === true && (read.syntax.verb === "insert" || read.syntax.verb === "replace");
  const text = finished(adds ? json : withoutRowid(json), figures);
  return statement?.wantsRows === false ? withoutRows(text) : text;
}

function finished(json: string, [read, written, ms]: readonly [number, number, number]): string {
  return `${json},"replication_index":null,"rows_read":${read},"rows_written":${written},"query_duration_ms":${ms}}`;
}

function withoutRows(text: string): string {
  return JSON.stringify({ ...JSON.parse(text), rows: [] });
}
