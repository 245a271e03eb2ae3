// One sentence on what a statement does, from what the engine said of it: for models that gave none.
import type { StatementFacts } from "../../sql/statement_facts.ts";

/** Functions whose presence says what kind of answer it is. */
const aggregates: Readonly<Record<string, string>> = {
  count: "Counts rows",
  sum: "Adds up values",
  total: "Adds up values",
  avg: "Averages values",
  min: "Finds the smallest value",
  max: "Finds the largest value",
};

/** `Counts rows of customers and orders.` */
export function describeFacts(facts: StatementFacts): string {
  const verb =
    facts.functions.map((name) => aggregates[name.toLowerCase()]).find((text) => text !== undefined) ??
      "Reads rows";
  const tables = facts.tablesRead.filter((table) => !table.startsWith("json_"));
  if (tables.length === 0) return "Computes a value without reading a table.";
  const columns = facts.columnsRead.map((column) => column.slice(column.indexOf(".") + 1)).slice(0, 6);
  const using = columns.length > 0 ? `, using ${columns.join(", ")}` : "";
  return `${verb} of ${tables.slice(0, 6).join(" and ")}${using}.`;
}
