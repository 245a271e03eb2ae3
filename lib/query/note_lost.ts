// A table that is made anew (CREATE, copy, DROP, RENAME) loses its indexes and triggers without a word of SQLite's. The caller
// is told which.
import { lostObjects, type SchemaObject } from "../sql/hints/lost_objects.ts";
import type { QueryStatement, UnderstoodCall } from "./query_call.ts";

/** What can be lost. More of it, and names of thousands of characters, nobody makes anew by hand. */
const PARTS =
  "SELECT type, name, tbl_name FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL " +
  "AND length(name) + length(tbl_name) < 1000 LIMIT 10000";

const DROPS = /\bDROP\s+(?:TABLE|VIEW)\b/i;
const MAKES = /\b(?:RENAME\s+TO|CREATE\s+(?:TABLE|VIEW))\b/i;

/**
 * Notes what to tell of it, before the call runs; null: nothing of the kind is done. Files of migrations are followed together,
 * and what an open transaction has made can be read by nobody else. Errors: those of `read`.
 */
export function noteLost(
  understood: UnderstoodCall,
  read: (statement: QueryStatement) => Promise<string>,
): Promise<void> | null {
  const { call: { statements, migration, inTransaction }, facts } = understood;
  if (statements.length < 2 || migration !== undefined || inTransaction === true) return null;
  if (!facts.some((one) => one.class === "schema")) return null;
  const isWritten = (form: RegExp) => statements.some(({ sql }) => form.test(sql));
  if (!isWritten(DROPS) || !isWritten(MAKES)) return null;
  return note(understood, read({ sql: PARTS, params: [] }));
}

async function note(understood: UnderstoodCall, reading: Promise<string>): Promise<void> {
  const { rows }: { readonly rows: readonly (readonly string[])[] } = JSON.parse(`${await reading}}`);
  const objects: SchemaObject[] = rows.map(([type = "", name = "", table = ""]) => ({ type, name, table }));
  understood.lost = await lostObjects(objects, understood.call.statements.map(({ sql }) => sql));
}
