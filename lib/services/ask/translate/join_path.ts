// The shortest way from one table to others along foreign keys.
import type { AskSchema, AskTable } from "../model/ask_schema.ts";
import { noted } from "./kept_schemas.ts";

/** One table joined to another. */
export interface JoinStep {
  readonly from: AskTable;
  readonly to: AskTable;
  /** Pairs of columns: one of `from`, one of `to`. */
  readonly on: readonly (readonly [from: string, to: string])[];
  /** Whether one row of `from` can have several rows of `to`. */
  readonly many: boolean;
  /** Whether another reference leads between the two as well: which one is meant has to be said. */
  readonly ambiguous: boolean;
}

/** The most tables that one question joins. */
const MAX_STEPS = 4;

/** The steps from `root`, in an order in which they can be joined; null when a table cannot be reached. */
export function joinPath(
  schema: AskSchema,
  root: AskTable,
  wanted: ReadonlySet<AskTable>,
): readonly JoinStep[] | null {
  const steps: JoinStep[] = [];
  const joined = new Set([root]);
  for (const table of wanted) {
    if (joined.has(table)) continue;
    const way = shortest(schema, joined, table);
    if (way === null) return null;
    for (const step of way) {
      steps.push(step);
      joined.add(step.to);
    }
  }
  return steps.length > MAX_STEPS ? null : steps;
}

/**
 * Searches breadth first from all joined tables, and follows a foreign key to its target before it goes the other
 * way.
 */
function shortest(schema: AskSchema, joined: ReadonlySet<AskTable>, target: AskTable): JoinStep[] | null {
  const cameBy = new Map<AskTable, JoinStep | null>([...joined].map((table) => [table, null]));
  const queue = [...joined];
  for (let table = queue.shift(); table !== undefined; table = queue.shift()) {
    if (table === target) break;
    for (const step of stepsFrom(schema, table)) {
      if (cameBy.has(step.to)) continue;
      cameBy.set(step.to, step);
      queue.push(step.to);
    }
  }
  const way: JoinStep[] = [];
  for (let step = cameBy.get(target); step !== null; step = cameBy.get(step.from)) {
    if (step === undefined) return null;
    way.unshift(step);
  }
  return way;
}

/** The steps from each table to its neighbours, those along its own references first. */
const allSteps = noted(({ tables }: AskSchema): ReadonlyMap<AskTable, readonly JoinStep[]> => {
  const byName = new Map(tables.map((table) => [table.name, table]));
  const up = tables.flatMap((table) =>
    table.foreignKeys.flatMap((key): JoinStep[] => {
      const to = byName.get(key.toTable);
      const on = pairs(key.columns, key.toColumns);
      const ambiguous = to !== undefined && keysBetween(table, to) > 1;
      return to && on && to !== table ? [{ from: table, to, on, many: false, ambiguous }] : [];
    })
  );
  const down = up.map((step): JoinStep => ({
    from: step.to,
    to: step.from,
    many: true,
    ambiguous: step.ambiguous,
    on: step.on.map(([from, to]) => [to, from]),
  }));
  return Map.groupBy([...up, ...down], ({ from }) => from);
});

/** The steps from a table to its neighbours. */
export function stepsFrom(schema: AskSchema, table: AskTable): readonly JoinStep[] {
  return allSteps(schema).get(table) ?? [];
}

function keysBetween(one: AskTable, other: AskTable): number {
  return one.foreignKeys.filter(({ toTable }) => toTable === other.name).length +
    other.foreignKeys.filter(({ toTable }) => toTable === one.name).length;
}

function pairs(from: readonly string[], to: readonly string[]): (readonly [string, string])[] | null {
  if (from.length === 0 || from.length !== to.length) return null;
  return from.map((name, at) => [name, to[at] ?? name] as const);
}
