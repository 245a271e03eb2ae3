// Estimates one nested loop of a plan: how many rows a run of it reads, and how many it hands on.
import type { Condition } from "./plan_conditions.ts";
import type { LoopNode } from "./plan_nodes.ts";
import type { PlanSchema } from "./plan_schema.ts";
import type { TextBlock } from "./statement_text.ts";
import type { RowCounts } from "./table_counts.ts";

/** A run reads `seek + perRow × fan` rows and finds `fan` rows; the share `pass` of them meets its other conditions. */
export interface Step {
  seek: number;
  readonly perRow: number;
  fan: number;
  pass: number;
  /** `fan` is known, not guessed. */
  readonly exact: boolean;
  /** Whether the loop has conditions that its access path does not answer. */
  readonly filtered: boolean;
  /** The most rows that all runs together can find. */
  readonly atMost: number;
  /** Reads that happen once, such as building an automatic index. */
  readonly once: number;
}

/** The sources of the numbers; `sources` are the subqueries in FROM that are already estimated. */
export interface StepFacts {
  readonly schema: PlanSchema;
  readonly counts: RowCounts;
  /** Rows of a stored table before the statement changed it. */
  readonly rowsOf: (table: string) => number;
  /** The name for an alias of the plan, lower case; other names are unchanged. */
  readonly nameOf: (name: string) => string;
  /** Stored table name for a table or alias of the plan. */
  readonly tableOf: (name: string) => string | undefined;
  readonly sources: ReadonlyMap<string, { readonly rows: number; readonly materialized: boolean }>;
}

/** The assumed share of a table that a range contains. */
const RANGE_SHARE = 1 / 3;
const BETWEEN_SHARE = 1 / 8;
/** Assumed rows of a virtual table or table function with an argument. */
const VIRTUAL_ROWS = 5;

/** Estimates one loop. `only`: the block has no other loop, so that unqualified columns are this loop's. */
export function stepOf(loop: LoopNode, block: TextBlock | undefined, only: boolean, facts: StepFacts): Step {
  const source = facts.sources.get(loop.name) ?? facts.sources.get(facts.nameOf(loop.name));
  const table = facts.tableOf(loop.name);
  const rest = leftOver({ loop, block, only, table }, facts.schema);
  const step = (fan: number, exact: boolean, more: Partial<Step> = {}): Step => ({
    seek: 0,
    perRow: 1,
    fan,
    pass: 1,
    exact,
    once: 0,
    atMost: Infinity,
    filtered: rest.length > 0,
    ...more,
  });
  const pass = rest.reduce((share, condition) => share * condition.share, 1);
  if (source) return sourceStep(loop, source, step);
  if (table === undefined || loop.access === "virtual") return virtualStep(loop, table, facts, step);
  if (loop.access === "automatic") {
    const rows = facts.rowsOf(table);
    const sampled = facts.counts.perKey(table, loop.equal, null);
    return step(sampled > 3 ? sampled * Math.max(1, rows / 4000) : sampled, false, { once: rows, pass });
  }
  if (loop.scan) return step(facts.rowsOf(table), true, { pass });
  return keyedStep({ loop, block, only, table }, facts, step, pass);
}

type MakeStep = (fan: number, exact: boolean, more?: Partial<Step>) => Step;

/** A loop in its block, and the stored table that it reads. `only`: the block has no other loop. */
interface Place<Table extends string | undefined> {
  readonly loop: LoopNode;
  readonly block: TextBlock | undefined;
  readonly only: boolean;
  readonly table: Table;
}

function keyedStep(place: Place<string>, facts: StepFacts, step: MakeStep, pass: number): Step {
  const { loop, block, only, table } = place;
  const key = keyOf(loop, table, facts.schema);
  if (isExtreme(place, facts.schema)) return step(1, true, { seek: 1, perRow: 0 });
  if (loop.equal.length + loop.ranges === 0) return step(facts.rowsOf(table), true, { pass });
  const list = block?.conditions.find((c) =>
    c.list &&
    (loop.equal.includes(c.list.column) || (loop.access === "rowid" && key?.columns[0] === c.list.column))
  )?.list?.values;
  if (key?.unique && loop.equal.length >= key.columns.length) {
    return list === undefined
      ? step(1, true, { seek: key.nullable && !only ? 2 : 1, perRow: 0, pass })
      : step(list, false, { seek: 0, perRow: 2, pass });
  }
  const index = loop.access === "index" ? loop.index : null;
  const perKey = loop.equal.length === 0
    ? facts.counts.roughRowsOf(table)
    : facts.counts.perKey(table, key?.columns.slice(0, loop.equal.length) ?? loop.equal, index);
  const share = loop.ranges === 0 ? 1 : loop.ranges === 1 ? RANGE_SHARE : BETWEEN_SHARE;
  const seek = loop.equal.length > 0 || loop.ranges > 1 ? (list ?? 1) * (list === undefined ? 1 : 2) : 0;
  const fan = Math.max(1, perKey * share) * (list ?? 1);
  if (loop.exists) return step(1, false, { seek: 1, perRow: block ? 0 : fan / 2, pass: 0.5 });
  const atMost = joinsToKey(place, facts) ? facts.counts.roughRowsOf(table) : Infinity;
  return step(fan, false, { seek, pass, atMost });
}

/** Whether an equality joins the loop with the rowid of another table: at most one row there leads to each of its rows. */
function joinsToKey({ loop, block }: Place<string>, facts: StepFacts): boolean {
  return loop.ranges === 0 &&
    (block?.conditions ?? []).some((condition) =>
      condition.qualifiers.size === 2 && condition.qualifiers.has(loop.name) &&
      [...condition.qualifiers].some((name) => {
        const table = name === loop.name ? undefined : facts.tableOf(name);
        return table !== undefined && condition.columns.has(facts.schema.rowIdColumn(table));
      })
    );
}

/** Whether the loop serves `min` or `max` of the column that orders it, which reads one row. */
function isExtreme({ loop, block, table }: Place<string>, schema: PlanSchema): boolean {
  if (loop.ranges > 0) return false;
  if (loop.equal.length === 0 && loop.access === "index") return true;
  const column = block?.extremeOf;
  if (!column) return false;
  if (column === schema.rowIdColumn(table)) return loop.access !== "primary_key";
  const index = loop.index === null ? null : schema.index(loop.index);
  return index?.columns[loop.equal.length] === column;
}

function keyOf(loop: LoopNode, table: string, schema: PlanSchema) {
  if (loop.access === "rowid") {
    return { unique: loop.equal.length > 0, nullable: false, columns: [schema.rowIdColumn(table)] };
  }
  if (loop.access === "primary_key") return schema.primaryKey(table);
  return loop.index === null ? null : schema.index(loop.index);
}

function sourceStep(loop: LoopNode, source: { rows: number; materialized: boolean }, step: MakeStep): Step {
  if (loop.scan) return step(source.rows, false, { perRow: source.materialized ? 1 : 0 });
  // Found through an automatic index: a grouped subquery usually has one row for each key.
  return step(1, false, { once: source.materialized ? source.rows : 0 });
}

function virtualStep(loop: LoopNode, table: string | undefined, facts: StepFacts, step: MakeStep): Step {
  if (table !== undefined && loop.access !== "virtual") return step(facts.rowsOf(table), true);
  if (table === undefined) return step(VIRTUAL_ROWS, false);
  if (loop.virtualArgument === "") return step(facts.rowsOf(table), true);
  return loop.virtualArgument === "=" ? step(1, true) : step(VIRTUAL_ROWS, false);
}

/** Conditions on this loop's columns that its access path does not answer. */
function leftOver(
  { loop, block, only, table }: Place<string | undefined>,
  schema: PlanSchema,
): Condition[] {
  if (loop.access === "virtual") return [];
  const keyed = new Set(loop.equal);
  if (table !== undefined && !loop.scan && loop.equal.length + loop.ranges > 0) {
    const key = keyOf(loop, table, schema);
    for (const column of key?.columns.slice(0, loop.equal.length + loop.ranges) ?? []) keyed.add(column);
    if (loop.access === "index") keyed.add(schema.rowIdColumn(table));
  }
  return (block?.conditions ?? []).filter((condition) => {
    const own = condition.qualifiers.size === 0
      ? condition.columns.size > 0 && (only || loop.scan)
      : condition.qualifiers.size === 1 && condition.qualifiers.has(loop.name);
    const answered = condition.subquery
      ? keyed.has(condition.first)
      : [...condition.columns].some((column) => keyed.has(column));
    return (own || (condition.subquery && only)) && !answered;
  });
}
