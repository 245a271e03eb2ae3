// What verbs say that happened, by the dates and references of the tables that tell of it.
import { splitWords } from "../../schema/search_words.ts";
import type { AskTable } from "../model/ask_schema.ts";
import { isDate } from "./column_kinds.ts";
import type { Mention } from "./link_names.ts";
import type { Reading } from "./reading.ts";

/** "who applied", "nobody applied": what happened, though "applied" may be the state of an application as well. */
export function isEvent(reading: Reading, mention: Mention): boolean {
  return /^(who|nobody|never|somebody|someone|they|he|she)$/.test(reading.word(mention.at - 1)) &&
    mention.values.some(({ ref }) =>
      ref.table === mention.table && mention.weak ||
      mention.columns.some(({ table, column }) => table === ref.table && isDate(column))
    );
}

/** The table of what never happened: "jobs nobody applied to" by `applied_at`, "never scored" by what tells who did. */
export function eventTable(reading: Reading, mention: Mention): AskTable | null {
  const { subject } = reading;
  const tables = new Set(mention.columns.flatMap(({ table, column }) => {
    const own = table.foreignKeys.some(({ columns, toTable }) =>
      columns.includes(column.name) && toTable === subject?.name
    );
    return isDate(column) && column.notNull || own ? [table] : [];
  }));
  const [only, ...more] = tables;
  return only && more.length === 0 && reading.hasMany(only) ? only : null;
}

/** "whose contract runs out this year": the verb of a date until which something holds. */
export function takeEnding(reading: Reading, mention: Mention): void {
  const until = mention.columns.some(({ column }) =>
    isDate(column) &&
    splitWords(column.name).some((word) =>
      /^(until|end|ends|expiry|expires|expiration|valid|due)$/.test(word)
    )
  );
  if (!until) return;
  for (const phrase of ["runs out", "run out", "is up", "are up", "ends", "end", "expires", "expire"]) {
    const length = reading.phrase(mention.end, phrase);
    if (length > 0) return reading.take(mention.end, mention.end + length);
  }
}
