// Describes a plan in a sentence, so that whoever asked can see how the question was understood.
import { type Condition, isMeasure, type Measure, type Plan, type Term } from "./plan.ts";

const aggregates = {
  count: "number of different",
  sum: "sum of",
  avg: "average of",
  min: "smallest",
  max: "largest",
} as const;
const operators: Readonly<Record<string, string>> = {
  ">": "above",
  ">=": "at least",
  "<": "below",
  "<=": "at most",
  "=": "equal to",
};

/** `Shows the number of orders for each name of customers, where status is pending.` */
export function describePlan(plan: Plan): string {
  const { terms, measures, conditions, having, order, limit } = plan;
  const shown = plan.grouped
    ? `${joined(measures.map(measureText)) || "the groups"} for each ${joined(terms.map(termText))}`
    : joined([...measures.map(measureText), ...(measures.length > 0 ? [] : [rowsText(plan)])]);
  const where = conditions.map(conditionText);
  if (having) {
    where.push(`${measureText(having.measure)} is ${operators[having.operator] ?? ""} ${having.value}`);
  }
  const ordered = order
    ? `, ${order.descending ? "largest" : "smallest"} ${
      isMeasure(order.by) ? measureText(order.by) : termText(order.by)
    } first`
    : "";
  const cut = limit === null ? "" : `, only the first ${limit}`;
  return `Shows ${shown}${where.length > 0 ? ` where ${joined(where)}` : ""}${ordered}${cut}.`;
}

function rowsText({ terms, root }: Plan): string {
  const own = terms.filter((term) => term.kind === "column" && term.ref.table === root);
  return terms.length > 3 && own.length === terms.length
    ? `rows of ${root.name}`
    : joined(terms.map(termText));
}

function measureText(measure: Measure): string {
  if (measure.kind === "rows") return `the number of ${measure.table.name}`;
  return `the ${aggregates[measure.aggregate]} ${termText(measure.term)}`;
}

function termText(term: Term): string {
  const name = `${term.ref.table.name}.${term.ref.column.name}`;
  if (term.kind === "column") return name;
  return term.kind === "product" ? `${name} times ${term.by.column.name}` : `${term.kind} of ${name}`;
}

function conditionText(condition: Condition): string {
  if (condition.kind === "nothing") return `${condition.of.name} have no ${condition.table.name}`;
  const name = `${condition.ref.table.name}.${condition.ref.column.name}`;
  switch (condition.kind) {
    case "compare":
      return `${name} is ${operators[condition.operator] ?? condition.operator} ${condition.value}`;
    case "between":
      return `${name} is between ${condition.low} and ${condition.high}`;
    case "null":
      return `${name} is ${condition.not ? "set" : "empty"}`;
    case "values":
      return `${name} is ${condition.not ? "not " : ""}${condition.values.join(" or ")}`;
    case "days":
      return `${name} is ${
        [condition.from && `from ${condition.from} on`, condition.before && `before ${condition.before}`]
          .filter((text) => text !== null).join(" and ")
      }`;
  }
}

function joined(parts: readonly string[]): string {
  return parts.join(" and ");
}
