// Finds what an adjective is about: "cheapest" a price, "heavier" a weight, "oldest" a birthday.
import { splitWords } from "../../schema/search_words.ts";
import type { AskTable } from "../model/ask_schema.ts";
import { type ColumnRef, dayOf, isBirth, isNumber, isYear } from "./column_kinds.ts";
import type { Reading } from "./reading.ts";
import type { Scale } from "./scales.ts";
import { unitOfColumn } from "./units.ts";

/** The column of a table that an adjective is about; null where none is, or several are. */
export function scaleColumn(
  reading: Reading,
  { names, dimension, date }: Scale,
  table: AskTable,
): ColumnRef | null {
  if (date === "moment") return dayOf(table);
  const birth = date === "birth" ? table.columns.find(isBirth) : undefined;
  if (birth) return { table, column: birth };
  if (date === "birth" && table.columns.every(({ name }) => name.toLowerCase() !== "age")) {
    const years = table.columns.filter(isYear).map((column) => ({ table, column }));
    if (years.length > 0) return reading.choose(years, (ref) => ref);
    const day = dayOf(table);
    // What a row may not have yet is not when it began.
    return day?.column.notNull ? day : null;
  }
  const numbers = table.columns.filter((column) => isNumber(table, column));
  for (const name of names) {
    const found = numbers.filter((column) => splitWords(column.name).includes(name));
    if (found.length > 0) return reading.choose(found.map((column) => ({ table, column })), (ref) => ref);
  }
  const measured = numbers.filter((column) =>
    dimension !== null && unitOfColumn(column)?.dimension === dimension
  );
  return reading.choose(measured.map((column) => ({ table, column })), (ref) => ref);
}
