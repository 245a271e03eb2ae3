// `rowsRead` of a finished statement in embedded mode: an estimate from its query plan, exact table counts and what it
// returned, in the units of sqld's own counter (`meta.rowsReadBasis` is `plan`).
import type { DatabaseSync } from "node:sqlite";
import { asksChanges } from "../../sql/words/asks_changes.ts";
import { emptyCopy } from "./empty_copy.ts";
import { Learned } from "./learned.ts";
import { blockCost, type CostFacts } from "./plan_cost.ts";
import { type PlanNode, planNodes, type PlanRow } from "./plan_nodes.ts";
import { PlanSchema } from "./plan_schema.ts";
import { type StepFacts, stepOf } from "./plan_steps.ts";
import { aliasesOf, readStatementText, type StatementText, type TextBlock } from "./statement_text.ts";
import { besidePlan, type Estimate, withoutPlan } from "./reads_beside_plan.ts";
import type { RowCounts } from "./table_counts.ts";

/** Characters of the longest text whose estimate is kept for its next run, not only until it has run: it holds the words of its text. */
export const KEPT_LENGTH = 100_000;

/** The estimate of a look-up by a whole key. */
const ONE_ROW: Estimate = () => 1;

/** The last estimate of this process: a text that is too long to be learned may run many times in a row all the same. */
let last: { readonly of: RowsReadEstimates; readonly sql: string; readonly estimate: Estimate } | null = null;

/** The database for which an estimate is asked. */
export interface EstimatedDatabase {
  /** It runs SQL of the service's own, which the connection must allow meanwhile. */
  readonly database: DatabaseSync;
  readonly counts: RowCounts;
}

/** A statement that has just run. */
export interface FinishedStatement {
  readonly sql: string;
  readonly rowsReturned: number;
  /** The rows changed, triggers included. */
  readonly rowsWritten: number;
}

/**
 * Makes the estimates of the statements of one schema. Databases with the same schema can share them: an estimate asks the
 * database that it is made for now how many rows there are.
 */
export class RowsReadEstimates {
  readonly #estimates = new Learned<Estimate>();
  /** Those in which no loop runs inside of another one. */
  readonly #plain = new WeakSet<Estimate>();
  readonly #schema = new PlanSchema(() => this.#present.database);
  readonly #counts: RowCounts = {
    rowsOf: (table) => this.#present.counts.rowsOf(table),
    roughRowsOf: (table) => this.#present.counts.roughRowsOf(table),
    perKey: (table, columns, index) => this.#present.counts.perKey(table, columns, index),
  };
  #now: EstimatedDatabase | null = null;

  /** Rows read by the statement: never less than the rows it returned from tables. */
  rowsRead(on: EstimatedDatabase, { sql, rowsReturned, rowsWritten }: FinishedStatement): number {
    const rows = this.#on(on, () => this.#estimateOf(sql)(rowsReturned, rowsWritten));
    if (last !== null && last.sql.length > KEPT_LENGTH) last = null;
    return rows;
  }

  /** Looks at the plan of a write before it runs, as what runs behind it may ask for `changes()`; if it asks, `#explain` tells why not. */
  plan(on: EstimatedDatabase, sql: string): void {
    if (this.#known(sql) === undefined && !asksChanges(sql)) this.#on(on, () => this.#estimateOf(sql));
  }

  /** Whether the statement is known to read one row by its key, whatever is in the database. */
  readsOneRow(sql: string): boolean {
    return this.#estimates.get(sql) === ONE_ROW;
  }

  /** Whether a statement that has been estimated may run loops inside of one another, so that guesses are multiplied. */
  mayMultiply(sql: string): boolean {
    const known = this.#known(sql);
    return known === undefined || !this.#plain.has(known);
  }

  #on<T>(database: EstimatedDatabase, work: () => T): T {
    this.#now = database;
    try {
      return work();
    } finally {
      this.#now = null;
    }
  }

  get #present(): EstimatedDatabase {
    if (this.#now === null) throw new TypeError("an estimate was asked for no database");
    return this.#now;
  }

  #estimateOf(sql: string): Estimate {
    const known = this.#known(sql);
    if (known) return known;
    const estimate = this.#compile(sql);
    this.#estimates.set(sql, estimate);
    last = { of: this, sql, estimate };
    return estimate;
  }

  #known(sql: string): Estimate | undefined {
    return this.#estimates.get(sql) ?? (last?.of === this && last.sql === sql ? last.estimate : undefined);
  }

  #compile(sql: string): Estimate {
    const text = readStatementText(sql);
    const schema = this.#schema;
    const whole = withoutPlan(text, schema, this.#counts);
    if (whole) {
      const rounded: Estimate = (returned, written) => Math.round(whole(returned, written));
      this.#plain.add(rounded);
      return rounded;
    }
    const rows = this.#explain(sql, text.target !== null && asksChanges(sql));
    const { aliases, top } = this.#withViews(text, rows);
    const nodes = planNodes(rows, new Set([...schema.tables().keys(), ...aliases.keys()]));
    const { target } = text;
    // Loops over tables that the text does not name belong to foreign keys.
    const own = target === null
      ? nodes
      : nodes.filter((node) => node.type !== "loop" || named(text, node.name));
    let grown = 0;
    const facts: CostFacts = {
      text,
      schema,
      counts: this.#counts,
      rowsOf: (table) =>
        this.#counts.rowsOf(table) - (table.toLowerCase() === target?.toLowerCase() ? grown : 0),
      nameOf: (name) => aliases.get(name) ?? name,
      tableOf: (name) => schema.tables().get(aliases.get(name) ?? name),
      sources: new Map(),
    };
    const beside = besidePlan(text, own, nodes.length - own.length, schema);
    if (isKeyLookUp(own, top, facts) && beside(1, 1) === 0) return ONE_ROW;
    const inserts = target !== null && text.verb !== "UPDATE" && text.verb !== "DELETE";
    const block = inserts ? text.blocks.at(-1) : top;
    const replaces = text.tokens.some(({ key }) => key === "REPLACE" || key === "CONFLICT");
    const inflated = target !== null && schema.hasTriggers(target);
    const readsTables = nodes.some((node) => node.type !== "constant" && node.type !== "sort");
    const estimate: Estimate = (returned, written) => {
      const resultRows = target === null ? returned : written;
      grown = inserts && !replaces ? written : text.verb === "DELETE" ? -written : 0;
      const of = { block, resultRows, ...outOfLoops(own, block, inflated ? null : resultRows) };
      const reads = Math.round(blockCost(own, of, facts).reads + beside(returned, written));
      return readsTables && target === null ? Math.max(reads, returned) : reads;
    };
    if (!multiplies(nodes)) this.#plain.add(estimate);
    return estimate;
  }

  /** Finds the aliases in the text and in the views that it names; conditions of a view count as the statement's. */
  #withViews(
    text: StatementText,
    rows: readonly PlanRow[],
  ): { aliases: Map<string, string>; top: TextBlock } {
    const sources = rows.map((row) =>
      /^(?:CO-ROUTINE|MATERIALIZE) (.+)$/.exec(row.detail)?.[1]?.toLowerCase()
    );
    const isTable = (name: string) => this.#schema.tables().has(name) || sources.includes(name);
    const aliases = aliasesOf(text, isTable);
    let { top } = text;
    for (const [name, sql] of this.#schema.views()) {
      if (!named(text, name)) continue;
      const view = readStatementText(sql);
      for (const [alias, table] of aliasesOf(view, isTable)) {
        if (!aliases.has(alias)) aliases.set(alias, table);
      }
      top = { ...top, conditions: [...top.conditions, ...view.top.conditions] };
    }
    return { aliases, top };
  }

  /** `asks`: a write that asks for `changes()`. Its plan comes from an empty copy: there is no moment for it on the connection. */
  #explain(sql: string, asks: boolean): PlanRow[] {
    const { database } = this.#present;
    using copy = asks ? emptyCopy(database) : null;
    try {
      return (copy ?? database).prepare(`EXPLAIN QUERY PLAN ${sql}`).all().map((row) => ({
        id: Number(row["id"]),
        parent: Number(row["parent"]),
        detail: String(row["detail"]),
      }));
    } catch {
      return []; // the statement has changed the schema it was compiled for
    }
  }
}

/** Whether the plan reads a single row by its key, which is by far the most frequent plan. */
function isKeyLookUp(nodes: readonly PlanNode[], block: TextBlock, facts: StepFacts): boolean {
  const [node] = nodes;
  if (nodes.length !== 1 || node?.type !== "loop" || node.equal.length === 0) return false;
  const step = stepOf(node, block, true, facts);
  return step.exact && step.fan === 1 && step.seek === 1 && step.perRow === 0;
}

/** Whether some loop runs once for each row of another one. */
function multiplies(nodes: readonly PlanNode[]): boolean {
  return nodes.filter(({ type }) => type === "loop" || type === "or").length > 1 ||
    nodes.some((node) =>
      node.type === "recursion" || (node.type === "subquery" && node.correlated) ||
      (node.type === "compound"
        ? node.arms.some(multiplies)
        : "children" in node && multiplies(node.children))
    );
}

function named(text: StatementText, name: string): boolean {
  return name.startsWith("(") || text.tokens.some((token) => token.text.toLowerCase() === name);
}

/** Derives the rows that the loops have produced from the rows of the result. */
function outOfLoops(
  nodes: readonly PlanNode[],
  block: TextBlock | undefined,
  rows: number | null,
): { known: number | null; stopped: boolean } {
  const nothing = { known: null, stopped: false };
  if (rows === null || !block || block.aggregate || block.grouped || block.distinct || block.compound) {
    return nothing;
  }
  const { limit } = block;
  if (limit === null) return { known: rows, stopped: false };
  const full = limit === undefined ? rows > 0 : rows >= limit;
  if (!full) return { known: rows + block.offset, stopped: false };
  return nodes.some((node) => node.type === "sort") ? nothing : { known: rows + block.offset, stopped: true };
}
