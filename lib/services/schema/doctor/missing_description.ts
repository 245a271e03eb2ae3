// Tables that nobody has described.
import { readableWords } from "../search_words.ts";
import type { TableFacts } from "../schema_facts.ts";
import { databaseCall } from "./api_call.ts";
import type { Examined } from "./examined.ts";
import type { Found } from "./finding.ts";

/** Columns that a drafted description names. */
const DRAFT_COLUMNS = 8;

export function missingDescription({ schema, address }: Examined): Found[] {
  // A table of the name "" cannot be described.
  return schema.tables.filter(({ name, description }) => name !== "" && description === "").map((table) => ({
    table: table.name,
    column: null,
    message: `Describe the table ${table.name}: say what a row of it is; the suggestion is a draft`,
    suggestion: databaseCall(address, "PUT", "describe", {
      tables: [{ table: table.name, description: draft(table) }],
    }),
  }));
}

function draft(table: TableFacts): string {
  const columns = table.columns.slice(0, DRAFT_COLUMNS).map(({ name }) => readableWords(name).join(" "));
  const title = readableWords(table.name).join(" ") || table.name;
  const more = table.columns.length > DRAFT_COLUMNS ? ", …" : "";
  return `${title.slice(0, 1).toUpperCase()}${title.slice(1)}: ${columns.join(", ")}${more}`.slice(0, 500);
}
