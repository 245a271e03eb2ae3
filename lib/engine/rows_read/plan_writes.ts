// What statements read beside their query blocks: changed rows visited again, foreign keys, and schema changes.
import type { LoopNode, PlanNode } from "./plan_nodes.ts";
import type { PlanSchema } from "./plan_schema.ts";
import type { PlanText } from "./plan_text.ts";
import type { TableCounts } from "./table_counts.ts";

/** Rows read for rows returned and written. */
export type Estimate = (rowsReturned: number, rowsWritten: number) => number;

/** The whole estimate of a statement that has no query in it, or null where its plan is needed. */
export function withoutPlan(text: PlanText, schema: PlanSchema, counts: TableCounts): Estimate | null {
  switch (text.verb) {
    case "SELECT":
    case "VALUES":
    case "UPDATE":
    case "DELETE":
      return null;
    case "INSERT":
    case "REPLACE": {
      if (text.hasSelect) return null;
      const perRow = parentsOf(text, schema) + (text.returning ? 1 : 0);
      return (_returned, written) => perRow * written;
    }
    case "CREATE":
    case "ALTER":
      return schemaChange(text, schema, counts);
    case "REINDEX":
    case "ANALYZE":
      return () => maintained(text, schema).reduce((sum, table) => sum + counts.rowsOf(table), 0);
    case "DROP":
      return () => 1;
    case "PRAGMA":
      return checks(text, schema, counts);
    default:
      return () => 0; // EXPLAIN
  }
}

/** A PRAGMA that checks goes through all tables, or through the one that it names; others read no rows. */
function checks({ tokens }: PlanText, schema: PlanSchema, counts: TableCounts): Estimate {
  const at = tokens.findIndex(({ text }) => /^(?:integrity|quick|foreign_key)_check$/i.test(text));
  if (at < 0) return () => 0;
  const named = tokens.slice(at + 1).map(({ text }) => schema.tables().get(text.toLowerCase()));
  const table = named.find((name) => name !== undefined);
  const tables = table === undefined ? [...new Set(schema.tables().values())] : [table];
  const looksUp = /^f/i.test(tokens[at]?.text ?? "");
  // Each row that refers is looked up once for each of its references.
  const passes = (name: string) => {
    const references = looksUp ? schema.foreignKeys(name).length : 0;
    return !looksUp ? 1 : references === 0 ? 0 : 1 + references;
  };
  return () =>
    tables.reduce((sum, name) => sum + (passes(name) === 0 ? 0 : passes(name) * counts.rowsOf(name)), 0);
}

/** The tables that REINDEX or ANALYZE goes through: those of the name it gives, else all. */
function maintained(text: PlanText, schema: PlanSchema): string[] {
  const name = text.tokens.at(-1)?.key === ";" ? text.tokens.at(-2) : text.tokens.at(-1);
  const table = name && (schema.tables().get(name.text.toLowerCase()) ?? schema.tableOfIndex(name.text));
  return table ? [table] : [...new Set(schema.tables().values())];
}

/** What an INSERT … SELECT, UPDATE or DELETE reads beside going through its `own` loops; `others` serve foreign keys. */
export function besidePlan(
  text: PlanText,
  own: readonly PlanNode[],
  others: number,
  schema: PlanSchema,
): Estimate {
  const loops = own.filter((node) => node.type === "loop");
  const single = loops.length === 1 && loops[0] !== undefined && isOneRow(loops[0]);
  const target = text.target?.toLowerCase() ?? "";
  let perRow = text.returning ? 1 : 0;
  if (text.verb === "INSERT" || text.verb === "REPLACE") {
    perRow += parentsOf(text, schema) + (loops.some((loop) => loop.name === target) ? 1 : 0);
  } else if (text.verb === "DELETE") {
    const collects = !single && loops.length > 0 && (others > 0 || schema.deletesInTwoPasses(target));
    perRow += others + (collects ? 1 : 0);
  } else if (text.verb === "UPDATE") {
    const movesKey = loops.some((loop) =>
      keyColumns(loop, schema).some((column) => text.assigned.has(column))
    );
    perRow += parentsOf(text, schema) + (!single && (movesKey || text.returning || loops.length > 1) ? 2 : 0);
  } else return () => 0;
  if (loops.length > 0 && text.verb !== "DELETE" && schema.hasTriggers(target)) perRow += 1;
  return (_returned, written) => perRow * written;
}

/** Tables whose rows a changed row's foreign keys look up. */
function parentsOf(text: PlanText, schema: PlanSchema): number {
  const keys = schema.foreignKeys(text.target ?? "");
  return text.verb === "UPDATE" ? keys.filter((column) => text.assigned.has(column)).length : keys.length;
}

function isOneRow(loop: LoopNode): boolean {
  return !loop.scan && loop.ranges === 0 && (loop.access === "rowid" || loop.access === "primary_key");
}

function keyColumns(loop: LoopNode, schema: PlanSchema): readonly string[] {
  return loop.access === "index" && loop.index !== null ? schema.index(loop.index)?.columns ?? [] : [];
}

/** An index is built by reading the table and sorting its keys; other changes touch the schema only. */
function schemaChange(text: PlanText, schema: PlanSchema, counts: TableCounts): Estimate {
  const { tokens, verb } = text;
  const has = (key: string) => tokens.some((token) => token.key === key && token.depth === 0);
  const after = (key: string) =>
    tokens[tokens.findIndex((token) => token.key === key && token.depth === 0) + 1];
  const rowsOf = (name: string | undefined) =>
    counts.rowsOf(schema.tables().get(name?.toLowerCase() ?? "") ?? "");
  if (verb === "CREATE" && has("INDEX")) {
    const table = after("ON")?.text;
    return () => 1 + 2 * rowsOf(table);
  }
  if (verb === "CREATE" && has("TABLE") && text.hasSelect) {
    const table = tokens[tokens.findIndex((token) => token.key === "AS") - 1]?.text;
    return () => 1 + rowsOf(table);
  }
  if (verb === "ALTER" && has("DROP")) {
    const table = after("TABLE")?.text;
    return () => 1 + rowsOf(table);
  }
  return () => 1;
}
