// Writes a plan as one SELECT. Names come from the schema, values are literals that are quoted here.
import type { ColumnRef } from "./column_kinds.ts";
import { quoteIdentifier, quoteText } from "../../../sql/words/quote.ts";
import type { AskSchema, AskTable } from "../model/ask_schema.ts";
import { joinPath, type JoinStep, stepsFrom } from "./join_path.ts";
import { type Condition, type Exists, isMeasure, type Measure, type Plan, type Term } from "./plan.ts";
import { affinityOf } from "../../../sql/words/sql_value.ts";

/** The statement; null when the tables are not connected, or when a join would count values more than once. */
export function writeSql(schema: AskSchema, plan: Plan): string | null {
  const wanted = tablesOf(plan);
  const measures = measuresOf(plan);
  const root = measures.length > 0 ? deepest(schema, plan, wanted) : plan.root;
  const steps = joinPath(schema, root, wanted);
  if (steps === null || steps.some(({ ambiguous }) => ambiguous)) return null;
  if (measures.some((one) => repeats(one, steps, root))) return null;
  const columns = [
    ...plan.terms.map((term) => `${termSql(term)} AS ${quoteIdentifier(termName(term))}`),
    ...plan.measures.map((one) => `${measureSql(one, steps, root)} AS ${quoteIdentifier(measureName(one))}`),
  ];
  const distinct = plan.distinct ||
    (!plan.grouped && measures.length === 0 && steps.some(({ many }) => many));
  const parts = [
    `SELECT ${distinct ? "DISTINCT " : ""}${[...new Set(columns)].join(", ")}`,
    `FROM ${quoteIdentifier(root.name)}`,
    ...steps.map(joinSql),
  ];
  const where = plan.conditions.map((one) => conditionSql(schema, one));
  if (where.includes(null)) return null;
  if (where.length > 0) parts.push(`WHERE ${where.join(" AND ")}`);
  if (plan.grouped) parts.push(`GROUP BY ${groupTerms(plan).join(", ")}`);
  const { having, order } = plan;
  if (having) {
    parts.push(`HAVING ${measureSql(having.measure, steps, root)} ${having.operator} ${having.value}`);
  }
  if (order) {
    const by = isMeasure(order.by) ? measureSql(order.by, steps, root) : termSql(order.by);
    parts.push(`ORDER BY ${by} ${order.descending ? "DESC" : "ASC"}`);
  }
  if (plan.limit !== null) parts.push(`LIMIT ${plan.limit}`);
  if (plan.limit !== null && plan.offset > 0) parts.push(`OFFSET ${plan.offset}`);
  return parts.join(" ");
}

function groupTerms({ groupTable, terms }: Plan): string[] {
  const keys = groupTable?.columns.filter(({ pk }) => pk > 0) ?? [];
  if (groupTable === null || keys.length === 0) return terms.map(termSql);
  const others = terms.filter(({ ref }) => ref.table !== groupTable).map(termSql);
  return [...keys.map((column) => columnSql({ table: groupTable, column })), ...others];
}

/**
 * Where rows are counted or added up, the join starts at the table with the most rows, so that each row counts once.
 */
function deepest(schema: AskSchema, plan: Plan, wanted: ReadonlySet<AskTable>): AskTable {
  const candidates = [plan.root, ...wanted];
  return candidates.find((table) => joinPath(schema, table, wanted)?.every(({ many }) => !many)) ?? plan.root;
}

/**
 * A value must not be added up once for each row of another table that it is joined to. Counting distinct keys is
 * right.
 */
function repeats(measure: Measure, steps: readonly JoinStep[], root: AskTable): boolean {
  if (measure.kind === "rows") {
    return isMultiplied(measure.table, steps, root) &&
      measure.table.columns.filter(({ pk }) => pk > 0).length !== 1;
  }
  if (measure.aggregate === "min" || measure.aggregate === "max" || measure.distinct) return false;
  return isMultiplied(measure.term.ref.table, steps, root);
}

/** Whether a row of the table can appear more than once in the join. */
function isMultiplied(table: AskTable, steps: readonly JoinStep[], root: AskTable): boolean {
  return table !== root || steps.some(({ many }) => many);
}

function measureSql(measure: Measure, steps: readonly JoinStep[], root: AskTable): string {
  if (measure.kind === "aggregate") {
    const value = `${measure.aggregate}(${measure.distinct ? "DISTINCT " : ""}${termSql(measure.term)})`;
    const divide = measure.into?.divide ?? 1;
    if (divide === 1) return value;
    return divide < 1
      ? `${value} * ${decimal(Number((1 / divide).toPrecision(9)))}`
      : `${value} / ${decimal(divide)}`;
  }
  if (!isMultiplied(measure.table, steps, root)) return "count(*)";
  const [key, ...more] = measure.table.columns.filter(({ pk }) => pk > 0);
  return key && more.length === 0
    ? `count(DISTINCT ${columnSql({ table: measure.table, column: key })})`
    : "count(*)";
}

/** With a point, so that whole numbers are not divided as such. */
function decimal(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

function joinSql(step: JoinStep): string {
  return `JOIN ${quoteIdentifier(step.to.name)} ON ${equalSql(step)}`;
}

function equalSql({ from, to, on }: JoinStep): string {
  return on.map(([a, b]) =>
    `${quoteIdentifier(from.name)}.${quoteIdentifier(a)} = ${quoteIdentifier(to.name)}.${quoteIdentifier(b)}`
  ).join(" AND ");
}

function conditionSql(schema: AskSchema, condition: Condition): string | null {
  switch (condition.kind) {
    case "compare":
      return `${columnSql(condition.ref)} ${condition.operator} ${condition.value}`;
    case "between":
      return `${columnSql(condition.ref)} BETWEEN ${condition.low} AND ${condition.high}`;
    case "null":
      return `${columnSql(condition.ref)} IS ${condition.not ? "NOT " : ""}NULL`;
    case "values": {
      const { ref, values, not } = condition;
      const list = values.map(quoteText);
      if (list.length !== 1) return `${columnSql(ref)} ${not ? "NOT IN" : "IN"} (${list.join(", ")})`;
      return `${columnSql(ref)} ${not ? "<>" : "="} ${list.join("")}`;
    }
    case "days": {
      const { ref, from, before } = condition;
      return [
        from && `${daySql(ref, from)} >= ${quoteText(from)}`,
        before && `${daySql(ref, before)} < ${quoteText(before)}`,
      ]
        .filter((text) => text !== null).join(" AND ");
    }
    case "exists":
      return existsSql(schema, condition);
  }
}

function existsSql(
  schema: AskSchema,
  { of, table, inner, not = false, by = null, up = false }: Exists,
): string | null {
  if (of === table) return ofItself(schema, of, { inner, not, by, up });
  const first = by === null
    ? null
    : stepsFrom(schema, of).find(({ to, on }) =>
      to === table && on.every(([a, b]) => by.includes(a) || by.includes(b))
    );
  const [step, ...more] = first ? [first] : joinPath(schema, of, new Set([table])) ?? [];
  if (step === undefined || (by === null && [step, ...more].some(({ ambiguous }) => ambiguous))) return null;
  const where = inner.map((one) => conditionSql(schema, one));
  if (where.includes(null)) return null;
  const joins = ["SELECT 1 FROM " + quoteIdentifier(step.to.name), ...more.map(joinSql)].join(" ");
  return `${not ? "NOT " : ""}EXISTS (${joins} WHERE ${[equalSql(step), ...where].join(" AND ")})`;
}

/** A row that refers to another of its own table, or that such a row refers to. */
function ofItself(
  schema: AskSchema,
  table: AskTable,
  { inner, not, by, up }: Required<Pick<Exists, "inner" | "not" | "by" | "up">>,
): string | null {
  const key = table.foreignKeys.find(({ columns }) => columns.length === 1 && by?.includes(columns[0] ?? ""));
  const ends = [key?.columns[0], key?.toColumns[0]];
  const [from, to] = up ? ends.toReversed() : ends;
  const where = inner.map((one) => conditionSql(schema, one));
  if (from === undefined || to === undefined || where.includes(null)) return null;
  const name = quoteIdentifier(table.name);
  const found = `SELECT ${quoteIdentifier(to)} FROM ${name} WHERE ${where.join(" AND ")}`;
  return `${name}.${quoteIdentifier(from)} ${not ? "NOT IN" : "IN"} (${found})`;
}

function tablesOf(plan: Plan): Set<AskTable> {
  const measures = measuresOf(plan);
  const terms = [...plan.terms, ...measures.flatMap((one) => one.kind === "aggregate" ? [one.term] : [])];
  if (plan.order && !isMeasure(plan.order.by)) terms.push(plan.order.by);
  return new Set([
    plan.root,
    ...measures.flatMap((one) => one.kind === "rows" ? [one.table] : []),
    ...terms.flatMap((term) => term.kind === "product" ? [term.ref.table, term.by.table] : [term.ref.table]),
    ...plan.conditions.map((one) => one.kind === "exists" ? one.of : one.ref.table),
    ...(plan.groupTable ? [plan.groupTable] : []),
  ]);
}

function measuresOf({ measures, having, order }: Plan): Measure[] {
  return [
    ...measures,
    ...(having ? [having.measure] : []),
    ...(order && isMeasure(order.by) ? [order.by] : []),
  ];
}

function termSql(term: Term): string {
  switch (term.kind) {
    case "column":
      return columnSql(term.ref);
    case "product":
      return `${columnSql(term.ref)} * ${columnSql(term.by)}`;
    case "year":
      return `strftime('%Y', ${daySql(term.ref)})`;
    case "month":
      return `strftime('%Y-%m', ${daySql(term.ref)})`;
    case "day":
      return `date(${daySql(term.ref)})`;
  }
}

function termName(term: Term): string {
  return term.kind === "column" ? term.ref.column.name : term.kind === "product" ? "value" : term.kind;
}

function measureName(measure: Measure): string {
  if (measure.kind === "rows") return "count";
  const { aggregate, term } = measure;
  return aggregate === "count" ? "count" : `${aggregate}_${termName(term)}`;
}

function columnSql({ table, column }: ColumnRef): string {
  return `${quoteIdentifier(table.name)}.${quoteIdentifier(column.name)}`;
}

/**
 * A number is a count of Unix seconds or of Julian days: the engine tells them apart. Text is compared as it is with a day,
 * and as a moment with a moment, because it may have a `T` in it.
 */
function daySql(ref: ColumnRef, compared = ""): string {
  if (affinityOf(ref.column.type) === "INTEGER") return `datetime(${columnSql(ref)}, 'auto')`;
  return compared.includes(" ") ? `datetime(${columnSql(ref)})` : columnSql(ref);
}
