// Counts around a statement what the engine does not count as changes.
import type { Connection } from "../../../engine/connection.ts";
import {
  nothingBeside,
  type RowsBeside,
  rowsBeside,
  textBefore,
  textBehind,
} from "../../calls/counted_rows.ts";
import type { WireStatementMore } from "./protocol.ts";

/** Call before the statement; what it returns right behind it, with the changes that the engine has counted. */
export function countBeside(
  connection: Connection,
  more: WireStatementMore | undefined,
): (changes: number) => RowsBeside {
  if (!more?.replacing && !more?.schemaRows) return () => nothingBeside;
  const count = (text: string | null) => text === null ? undefined : numbersOf(connection, more, text);
  const before = count(textBefore(more));
  return (changes) => rowsBeside(more, [before, count(textBehind(more))], changes);
}

function numbersOf(connection: Connection, more: WireStatementMore, text: string): number[] | undefined {
  try {
    const statement = connection.database.prepare(text);
    return Object.values(statement.get() ?? {}).map(Number);
  } catch (error) {
    // A virtual table whose parts are gone has no rows that anybody could read.
    if (more.schemaRows) return undefined;
    throw error;
  }
}
