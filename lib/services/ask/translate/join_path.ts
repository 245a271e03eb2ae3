// The shortest way from one table to others along foreign keys.
import type { AskSchema, AskTable } from "../model/ask_schema.ts";

/** One table joined to another. */
export interface JoinStep {
  readonly from: AskTable;
  readonly to: AskTable;
  /** Pairs of columns: one of `from`, one of `to`. */
  readonly on: readonly (readonly [from: string, to: string])[];
  /** Whether one row of `from` can have several rows of `to`. */
  readonly many: boolean;
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

function stepsFrom(schema: AskSchema, table: AskTable): JoinStep[] {
  const up = table.foreignKeys.flatMap((key): JoinStep[] => {
    const to = schema.tables.find(({ name }) => name === key.toTable);
    const on = pairs(key.columns, key.toColumns);
    return to && on && to !== table ? [{ from: table, to, on, many: false }] : [];
  });
  const down = schema.tables.flatMap((other) =>
    other === table ? [] : other.foreignKeys.filter(({ toTable }) => toTable === table.name).flatMap(
      (key): JoinStep[] => {
        const on = pairs(key.toColumns, key.columns);
        return on ? [{ from: table, to: other, on, many: true }] : [];
      },
    )
  );
  return [...up, ...down];
}

function pairs(from: readonly string[], to: readonly string[]): (readonly [string, string])[] | null {
  if (from.length === 0 || from.length !== to.length) return null;
  return from.map((name, at) => [name, to[at] ?? name] as const);
}
