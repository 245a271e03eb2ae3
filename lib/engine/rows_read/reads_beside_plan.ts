// Estimates the rows that statements read outside of their query blocks: changed rows again, rows of foreign keys, and
// rows that a change of the schema reads.
import type { LoopNode, PlanNode } from "./plan_nodes.ts";
import type { PlanSchema } from "./plan_schema.ts";
import type { StatementText } from "./statement_text.ts";
import type { RowCounts } from "./table_counts.ts";

/** Estimates the rows read from the rows returned and written. */
export type Estimate = (rowsReturned: number, rowsWritten: number) => number;

/** Makes the whole estimate of a statement without a query; null where the plan is needed. */
export function withoutPlan(text: StatementText, schema: PlanSchema, counts: RowCounts): Estimate | null {
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

/** Estimates a PRAGMA: one that checks reads all tables, or the one that it names; others read no rows. */
function checks({ tokens }: StatementText, schema: PlanSchema, counts: RowCounts): Estimate {
  const at = tokens.findIndex(({ text }) => /^(?:integrity|quick|foreign_key)_check$/i.test(text));
  if (at < 0) return () => 0;
  const named = tokens.slice(at + 1).map(({ text }) => schema.tables().get(text.toLowerCase()));
  const table = named.find((name) => name !== undefined);
  const tables = table === undefined ? [...new Set(schema.tables().values())] : [table];
  const followsKeys = /^f/i.test(tokens[at]?.text ?? "");
  // A check of foreign keys searches once for each reference of each row.
  const passes = (name: string) => {
    const references = followsKeys ? schema.foreignKeys(name).length : 0;
    return !followsKeys ? 1 : references === 0 ? 0 : 1 + references;
  };
  return () =>
    tables.reduce((sum, name) => sum + (passes(name) === 0 ? 0 : passes(name) * counts.rowsOf(name)), 0);
}

/** The tables that REINDEX or ANALYZE reads: the one that it names, or all. */
function maintained(text: StatementText, schema: PlanSchema): string[] {
  const name = text.tokens.at(-1)?.key === ";" ? text.tokens.at(-2) : text.tokens.at(-1);
  const table = name && (schema.tables().get(name.text.toLowerCase()) ?? schema.tableOfIndex(name.text));
  return table ? [table] : [...new Set(schema.tables().values())];
}

/**
 * Estimates what an INSERT … SELECT, UPDATE or DELETE reads beside its `own` loops; `others` are the loops of foreign
 * keys.
 */
export function besidePlan(
  text: StatementText,
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

/** The tables in which foreign keys of a changed row search. */
function parentsOf(text: StatementText, schema: PlanSchema): number {
  const keys = schema.foreignKeys(text.target ?? "");
  return text.verb === "UPDATE" ? keys.filter((column) => text.assigned.has(column)).length : keys.length;
}

function isOneRow(loop: LoopNode): boolean {
  return !loop.scan && loop.ranges === 0 && (loop.access === "rowid" || loop.access === "primary_key");
}

function keyColumns(loop: LoopNode, schema: PlanSchema): readonly string[] {
  return loop.access === "index" && loop.index !== null ? schema.index(loop.index)?.columns ?? [] : [];
}

/** Estimates a schema change: building an index reads the table and sorts its keys; other changes read the schema only. */
function schemaChange(text: StatementText, schema: PlanSchema, counts: RowCounts): Estimate {
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
