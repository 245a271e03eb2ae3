// Keeps what was learned of the schemas that were asked about last: a question reads its schema anew, most often the same one.
import type { AskSchema } from "../model/ask_schema.ts";

/** How many are kept, and of what size: characters of their names, types and descriptions. */
const MAX_KEPT = 8;
const MAX_TEXT = 500_000;

/** The one used last stands last. */
const kept = new Map<string, AskSchema>();

/** An equal schema, the same object as before where it was asked about lately, so that notes on it are found again. */
export function keptSchema(schema: AskSchema): AskSchema {
  const text = JSON.stringify(schema.tables);
  const known = kept.get(text) ?? schema;
  kept.delete(text);
  if (text.length <= MAX_TEXT) kept.set(text, known);
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
