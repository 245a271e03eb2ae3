// What a statement would read and cost, told from the engine's plan before anything runs.
import { type PlanNode, planNodes, type PlanRow } from "../../engine/rows_read/plan_nodes.ts";
import { aliasesOf, readStatementText, type StatementText } from "../../engine/rows_read/statement_text.ts";
import { costNanoUsd, toUsd } from "../../query/prices.ts";
import { quoteIdentifier } from "../../sql/words/quote.ts";
import type { StatementFacts } from "../../sql/grammar/statement_facts.ts";
import { readOwnRows } from "../query/read_own.ts";
import { rowsOf } from "../query/read_result.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { readEach, unreadable } from "./read_rows.ts";

/** What a statement is expected to cost. */
export interface CostEstimate {
  /** Rows that it reads, about: sizes of tables and the plan are known, how many rows conditions leave is not. */
  readonly rowsRead: number;
  /** Of the request and these rows. What a write changes comes on top. */
  readonly costUsd: number;
  /** Tables that are read from one end to the other, spelled as in the schema. */
  readonly fullScans: readonly string[];
}

/** Rows up to which a table is counted; a larger one is estimated by its highest rowid. */
const MAX_COUNTED = 10_000;
/** Rows that an index is taken to find for one value, and the part of a table that a range leaves. */
const ROWS_OF_A_VALUE = 10;
const PART_OF_A_RANGE = 4;

/** Characters in which names and bounds of tables are looked for: a million would take a second, in which nobody is served. */
const MAX_READ_LENGTH = 20_000;

const NOTHING: Omit<CostEstimate, "costUsd"> = { rowsRead: 0, fullScans: [] };

/** The estimate; where the engine has no plan, that of a request which reads nothing. Errors: those of the store. */
export async function estimateCost(
  ctx: StatementsContext,
  sql: string,
  facts: StatementFacts,
): Promise<CostEstimate> {
  const found = facts.class === "read" || facts.class === "write" ? await readsOf(ctx, sql, facts) : NOTHING;
  return { ...found, costUsd: toUsd(costNanoUsd(found.rowsRead, 0)) };
}

async function readsOf(
  ctx: StatementsContext,
  sql: string,
  { verb, tablesRead, tablesWritten, parameterCount }: StatementFacts,
): Promise<Omit<CostEstimate, "costUsd">> {
  if (verb === "explain" || verb === "pragma") return NOTHING;
  const planRows = await explain(ctx, sql, parameterCount);
  if (planRows.length === 0) return NOTHING;
  const text = readStatementText(sql.slice(0, MAX_READ_LENGTH));
  const tables = new Map([...tablesRead, ...tablesWritten].map((table) => [table.toLowerCase(), table]));
  const aliases = aliasesOf(text, (name) => tables.has(name));
  const nodes = planNodes(planRows, new Set([...tables.keys(), ...aliases.keys()]));
  const tableOf = (name: string) => tables.get(aliases.get(name) ?? name);
  const used = [...new Set(loopsIn(nodes).flatMap(({ name }) => tableOf(name) ?? []))];
  const sizes = await sizesOf(ctx, used);
  const most = boundOf(text);
  const fullScans = loopsIn(nodes)
    .filter(({ scan, exists }) => scan && !exists)
    .flatMap(({ name }) => tableOf(name) ?? [])
    .filter((table) => (sizes.get(table) ?? 0) <= most);
  const reads = readsIn(nodes, (name) => Math.min(most, sizes.get(tableOf(name) ?? "") ?? 0));
  // The product of a join of many tables is beyond what a number can be.
  const rowsRead = reads < Number.MAX_SAFE_INTEGER ? Math.round(reads) : Number.MAX_SAFE_INTEGER;
  return { rowsRead, fullScans: [...new Set(fullScans)].sort() };
}

/** The plan, which does not depend on the values; empty where there is none. */
async function explain(ctx: StatementsContext, sql: string, parameterCount: number): Promise<PlanRow[]> {
  const params = Array.from({ length: parameterCount }, () => null);
  const explaining = { sql: `EXPLAIN QUERY PLAN ${sql}`, params };
  try {
    const rows = await readOwnRows<[number, number, number, string]>(ctx, explaining);
    return rows.map(([id, parent, , detail]): PlanRow => ({ id, parent, detail }));
  } catch (error) {
    if (unreadable(error) === null) throw error;
    return [];
  }
}

/** The rows after which a statement without conditions stops: its LIMIT, where every row of the table counts for it. */
function boundOf({ verb, top, tokens }: StatementText): number {
  const { limit, offset, conditions, compound, distinct, grouped, aggregate, windows } = top;
  const isPlain = conditions.length === 0 && !compound && !distinct && !grouped && !aggregate && !windows;
  const filters = tokens.some(({ key }) => key === "WHERE" || key === "ORDER" || key === "JOIN");
  return verb === "SELECT" && typeof limit === "number" && isPlain && !filters ? limit + offset : Infinity;
}

type Loop = Extract<PlanNode, { type: "loop" }>;

function loopsIn(nodes: readonly PlanNode[]): Loop[] {
  return nodes.flatMap((node) => node.type === "loop" ? [node] : loopsIn(childrenOf(node)));
}

function childrenOf(node: PlanNode): readonly PlanNode[] {
  if (node.type === "compound") return node.arms.flat();
  return "children" in node ? node.children : [];
}

/** Each loop runs once for every row of those before it; a correlated subquery runs for each of them. */
function readsIn(nodes: readonly PlanNode[], sizeOf: (name: string) => number): number {
  let reads = 0;
  let outer = 1;
  for (const node of nodes) {
    if (node.type === "loop") {
      const each = loopReads(node, sizeOf(node.name));
      reads += outer * each;
      outer *= Math.max(1, each);
    } else {
      const times = node.type === "or" || (node.type === "subquery" && node.correlated) ? outer : 1;
      reads += times * readsIn(childrenOf(node), sizeOf);
    }
  }
  return reads;
}

function loopReads({ scan, exists, access, equal, ranges }: Loop, size: number): number {
  if (exists) return 1;
  if (scan) return size;
  if (equal.length > 0) {
    return access === "rowid" || access === "primary_key" ? 1 : Math.min(size, ROWS_OF_A_VALUE);
  }
  return ranges > 0 ? Math.ceil(size / PART_OF_A_RANGE) : Math.min(size, ROWS_OF_A_VALUE);
}

/** How many rows tables have: exactly up to a bound, above it by the highest rowid. */
async function sizesOf(ctx: StatementsContext, tables: readonly string[]): Promise<Map<string, number>> {
  const counts = await readEach(
    ctx,
    tables.map((table) =>
      `SELECT count(*) FROM (SELECT 1 FROM ${quoteIdentifier(table)} LIMIT ${MAX_COUNTED + 1})`
    ),
  );
  const sizes = new Map(tables.map((table, at) => [table, numberIn(counts[at])]));
  const large = tables.filter((table) => (sizes.get(table) ?? 0) > MAX_COUNTED);
  // A table without rowids is taken for as large as what was counted of it.
  const highest = await readEach(
    ctx,
    large.map((table) => `SELECT max(rowid) FROM ${quoteIdentifier(table)}`),
  );
  for (const [at, table] of large.entries()) {
    sizes.set(table, Math.max(sizes.get(table) ?? 0, numberIn(highest[at])));
  }
  return sizes;
}

function numberIn(read: Awaited<ReturnType<typeof readEach>>[number] | undefined): number {
  const [row] = read?.ok ? rowsOf<[number | null]>(read.json) : [];
  return Number(row?.[0] ?? 0);
}
