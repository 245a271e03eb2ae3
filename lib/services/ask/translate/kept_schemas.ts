// Keeps what was learned of the schemas that were asked about last: a question reads its schema anew, most often the same one.
import type { AskSchema } from "../model/ask_schema.ts";

/** How many are kept. */
const MAX_KEPT = 8;
/** Characters of names, types and descriptions, with some for each column, of a schema that is learned: it takes half a second. */
const MAX_SIZE = 500_000;
/** What a column takes besides. */
const COLUMN_SIZE = 100;

/** The one used last stands last. */
const kept = new Map<string, AskSchema>();

/** Whether the schema has so much to learn that each question would hold up the service. */
export function isTooLarge({ tables }: AskSchema): boolean {
  let size = 0;
  for (const { name, description, columns } of tables) {
    size += name.length + description.length;
    for (const column of columns) {
      size += COLUMN_SIZE + column.name.length + column.type.length + column.description.length;
    }
    if (size > MAX_SIZE) return true;
  }
  return false;
}

/** An equal schema, the same object as before where it was asked about lately, so that notes on it are found again. */
export function keptSchema(schema: AskSchema): AskSchema {
  const text = JSON.stringify(schema.tables);
  const known = kept.get(text) ?? schema;
  kept.delete(text);
  kept.set(text, known);
  for (const oldest of kept.keys()) {
    if (kept.size <= MAX_KEPT) break;
    kept.delete(oldest);
  }
  return known;
}

/** A function that remembers its results, as long as their arguments are in use. */
export function noted<Of extends object, Result>(make: (of: Of) => Result): (of: Of) => Result {
  const notes = new WeakMap<Of, { readonly result: Result }>();
  return (of) => {
    const note = notes.get(of) ?? { result: make(of) };
    notes.set(of, note);
    return note.result;
  };
}
