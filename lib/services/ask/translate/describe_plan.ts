// Describes a plan in plain words, so that whoever asked can see how the question was understood.
import { readableWords } from "../../schema/search_words.ts";
import { type Condition, type Exists, isMeasure, type Measure, type Plan, type Term } from "./plan.ts";
import { type ColumnRef, isDate } from "./column_kinds.ts";
import { unitOfColumn } from "./units.ts";

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
  "=": "",
};

/** `orders where status is 'shipped' and shipped at is after 2026-01-01, newest first` */
export function describePlan(plan: Plan): string {
  const { terms, measures, conditions, having, order, limit, offset } = plan;
  const say = new Speaker(plan);
  const shown = plan.grouped
    ? `${joined(measures.map((one) => say.measure(one))) || plan.root.name} for each ${
      joined(plan.groupTable ? [plan.groupTable.name] : terms.map((one) => say.term(one)))
    }`
    : joined(measures.length > 0 ? measures.map((one) => say.measure(one)) : [say.rows()]);
  const where = conditions.map((one) => say.condition(one));
  if (having) {
    where.push(`${say.measure(having.measure)} is ${operators[having.operator] ?? ""} ${having.value}`);
  }
  const cut = limit === null ? "" : offset > 0 ? `, number ${offset + 1} of them` : `, the first ${limit}`;
  return `${shown}${where.length > 0 ? ` where ${joined(where)}` : ""}${order ? say.order(order) : ""}${cut}`;
}

class Speaker {
  constructor(private readonly plan: Plan) {}

  rows(): string {
    const { terms, root } = this.plan;
    const own = terms.every((term) => term.ref.table === root);
    return own && terms.length > 2
      ? root.name
      : `${joined(terms.map((one) => this.term(one)))} of ${root.name}`;
  }

  measure(measure: Measure): string {
    if (measure.kind === "rows") return `number of ${measure.table.name}`;
    const unit = measure.into ? ` in ${measure.into.name}` : "";
    return `${aggregates[measure.aggregate]} ${this.term(measure.term)}${unit}`;
  }

  term(term: Term): string {
    const name = this.name(term.ref);
    if (term.kind === "column") return name;
    return term.kind === "product" ? `${name} times ${this.name(term.by)}` : `${term.kind} of ${name}`;
  }

  order({ by, descending }: NonNullable<Plan["order"]>): string {
    if (isMeasure(by)) return `, ${descending ? "most" : "least"} ${this.measure(by)} first`;
    if (isDate(by.ref.column)) return `, ${descending ? "newest" : "oldest"} ${this.term(by)} first`;
    return `, ${descending ? "largest" : "smallest"} ${this.term(by)} first`;
  }

  condition(condition: Condition): string {
    if (condition.kind === "exists") return this.exists(condition);
    const name = this.name(condition.ref);
    const { column } = condition.ref;
    switch (condition.kind) {
      case "compare":
        return `${name} is ${
          `${operators[condition.operator] ?? condition.operator} ${condition.value}`.trim()
        }${inUnit(column)}`;
      case "between":
        return `${name} is between ${condition.low} and ${condition.high}${inUnit(column)}`;
      case "null":
        return `${name} is ${condition.not ? "set" : "empty"}`;
      case "values":
        return `${name} is ${condition.not ? "not " : ""}${
          condition.values.map((one) => `'${one}'`).join(" or ")
        }`;
      case "days":
        return `${name} is ${
          [condition.from && `from ${condition.from} on`, condition.before && `before ${condition.before}`]
            .filter((text) => text !== null).join(" and ")
        }`;
    }
  }

  exists({ table, inner, not = false, by = null, up = false }: Exists, nested = false): string {
    if (by !== null && inner.length > 0 && up) {
      return `is ${not ? "not " : ""}the ${roleText(by)} of ${table.name} with ${
        joined(inner.map((one) => this.condition(one)))
      }`;
    }
    if (by !== null && inner.length > 0) {
      return `${roleText(by)}: ${not ? "not " : ""}${joined(inner.map((one) => this.condition(one)))}`;
    }
    const with_ = inner.length > 0
      ? ` with ${
        joined(inner.map((one) => one.kind === "exists" ? this.exists(one, true) : this.condition(one)))
      }`
      : "";
    const own = `${table.name}${by ? ` by ${roleText(by)}` : ""}${with_}`;
    if (nested) return not ? `no ${own}` : own;
    return `there ${not ? "are no" : "are"} ${own}`;
  }

  /** With its table where that is not the one that the rows come from. */
  name({ table, column }: ColumnRef): string {
    const words = readableWords(column.name).join(" ");
    return table === this.plan.root ? words : `${words} of ${table.name}`;
  }
}

function roleText(by: readonly string[]): string {
  return by.map((one) => readableWords(one).filter((word) => word !== "id").join(" ")).join(" and ");
}

/** Said where the name does not say it. */
function inUnit(column: ColumnRef["column"]): string {
  const unit = unitOfColumn(column);
  return unit?.dimension === "money" && unit.factor === 1 && !/cent/i.test(column.name) ? " cents" : "";
}

function joined(parts: readonly string[]): string {
  return parts.join(" and ");
}
