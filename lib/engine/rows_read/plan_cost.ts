// Estimates the rows that one query block of a plan reads: multiplies its loops, fits them to the known result, and adds
// sorting, subqueries and the arms of compounds.
import type { LoopNode, PlanNode } from "./plan_nodes.ts";
import { type Step, type StepFacts, stepOf } from "./plan_steps.ts";
import type { StatementText, TextBlock } from "./statement_text.ts";

/** The estimated rows of one query block. */
export interface Cost {
  readonly reads: number;
  /** Rows that the loops produce, before grouping and LIMIT. */
  readonly looped: number;
}

/** What the estimate knows about a block beside its plan. */
export interface BlockFacts {
  readonly block: TextBlock | undefined;
  /** The rows that the loops have produced, if the result shows them; null otherwise. */
  readonly known: number | null;
  /** Whether the loops stopped as soon as they had produced those rows. */
  readonly stopped: boolean;
  /** Rows of the block's result, for sorting groups and compounds. */
  readonly resultRows: number;
}

/** What the steps are made of, and the text with the blocks of subqueries. */
export interface CostFacts extends StepFacts {
  readonly text: StatementText;
}

/** Assumed rows of a recursive CTE. */
const RECURSIVE_ROWS = 100;

/** Costs one block. `facts.sources` must not hold sources of inner blocks yet. */
export function blockCost(
  nodes: readonly PlanNode[],
  of: BlockFacts,
  facts: CostFacts,
): Cost {
  const compound = nodes.find((node) => node.type === "compound");
  if (compound) return compoundCost(compound, of, facts);
  const sources = new Map(facts.sources);
  const inner: CostFacts = { ...facts, sources };
  let reads = 0;
  for (const node of nodes) {
    if (node.type !== "source") continue;
    const { cost, rows } = sourceCost(node, of, inner);
    sources.set(node.name, { rows, materialized: node.materialized });
    reads += cost;
  }
  const steps = stepsOf(nodes, of, inner);
  settle([...steps.values()], of);
  let runs = 1;
  let beforePass = 1;
  for (const node of nodes) {
    const step = steps.get(node);
    if (step) {
      if (runs >= 1) step.fan = Math.min(step.fan, step.atMost / runs);
      reads += step.once + runs * (step.seek + step.perRow * step.fan);
      beforePass = runs * step.fan;
      runs = beforePass * step.pass;
    } else if (node.type === "subquery") {
      const inWhere = of.block?.conditions.some((condition) => condition.subquery) ?? false;
      const times = node.correlated ? (inWhere ? beforePass : runs) : 1;
      reads += times * subqueryCost(node, inner).reads;
    } else if (node.type === "other" || node.type === "recursion") {
      reads += blockCost(node.children, { ...of, known: null, stopped: false }, inner).reads;
    }
  }
  return { reads: reads + sortCost(nodes, of, runs), looped: runs };
}

function stepsOf(
  nodes: readonly PlanNode[],
  of: BlockFacts,
  facts: CostFacts,
): Map<PlanNode, Step> {
  const loops = nodes.filter((node) =>
    node.type === "loop" || node.type === "or" || node.type === "constant"
  );
  const steps = new Map<PlanNode, Step>();
  for (const [at, node] of nodes.entries()) {
    if (node.type === "loop") {
      const block = node.exists ? existsBlock(node, facts.text) : of.block;
      const step = stepOf(node, block, loops.length === 1, facts);
      const list = nodes[at + 1];
      steps.set(node, list?.type === "subquery" && list.list && !node.scan ? driven(step) : step);
    } else if (node.type === "or") {
      steps.set(node, orStep(node.children, facts));
    } else if (node.type === "constant") {
      steps.set(node, {
        seek: 0,
        perRow: 0,
        fan: node.rows,
        pass: 1,
        exact: true,
        filtered: false,
        atMost: Infinity,
        once: 0,
      });
    }
  }
  return steps;
}

/** A search for each row of `IN (SELECT …)`; their number is a guess until it is fitted to the result. */
function driven(step: Step): Step {
  return {
    ...step,
    seek: 0,
    perRow: step.perRow + 2 / Math.max(1, step.fan),
    exact: false,
    fan: step.fan * 10,
  };
}

/** The block of an EXISTS that became a loop and has no condition but its key, so that one row decides it. */
function existsBlock(loop: LoopNode, text: StatementText): TextBlock | undefined {
  const last = text.blocks.length - 1;
  return text.blocks.find((block, at) => at < last && block.conditions.length === loop.equal.length);
}

function orStep(children: readonly PlanNode[], facts: StepFacts): Step {
  const loops = children.flatMap((child): LoopNode[] =>
    child.type === "loop"
      ? [child]
      : child.type === "other"
      ? child.children.filter((node) => node.type === "loop")
      : []
  );
  const parts = loops.map((loop) => stepOf(loop, undefined, true, facts));
  const seek = parts.reduce((sum, part) => sum + part.seek, 0);
  const fan = parts.reduce((sum, part) => sum + part.fan * part.perRow, 0);
  return { seek, perRow: 1, fan, pass: 1, exact: false, filtered: false, atMost: Infinity, once: 0 };
}

/** Fits the guessed numbers to the rows that the loops have produced. */
function settle(steps: readonly Step[], of: BlockFacts): void {
  if (of.known === null) return;
  const expected = steps.reduce((product, step) => product * step.fan, 1);
  const share = steps.reduce((product, step) => product * step.pass, 1);
  const filter = steps.find((step) => step.filtered);
  for (const step of steps) if (!of.stopped || step !== filter) step.pass = 1;
  if (expected <= 0) return;
  const ratio = of.known / expected;
  const guessed = steps.findLast((step) => !step.exact);
  if (of.stopped && ratio < 1) {
    const first = steps.find((step) => step.fan > 1);
    if (first) first.fan = Math.max(1, first.fan * Math.min(1, ratio / share));
    if (steps.length === 1 && first) first.seek = 0;
  } else if (ratio < 1 && filter) filter.pass = ratio;
  else if (ratio < 1 && guessed) guessed.fan *= ratio;
  else if (ratio > 1) {
    const widened = steps.find((step) => !step.exact);
    if (widened) widened.fan *= ratio;
  }
}

function sortCost(nodes: readonly PlanNode[], of: BlockFacts, looped: number): number {
  let reads = 0;
  for (const node of nodes) {
    if (node.type !== "sort") continue;
    if (node.by === "group" || node.by === "last_terms") reads += looped;
    else if (node.by === "order") reads += of.block?.grouped || of.block?.distinct ? of.resultRows : looped;
  }
  return reads;
}

function subqueryCost(node: PlanNode & { type: "subquery" }, facts: CostFacts): Cost {
  const block = facts.text.blocks[node.id - 1];
  // A scalar subquery, and EXISTS with it, stops at its first row.
  const stopsAtFirst = !node.list && block !== undefined && !block.aggregate && !block.grouped &&
    !block.compound;
  return blockCost(
    node.children,
    { block, known: stopsAtFirst ? 1 : null, stopped: stopsAtFirst, resultRows: 1 },
    facts,
  );
}

function compoundCost(
  node: PlanNode & { type: "compound" },
  of: BlockFacts,
  facts: CostFacts,
): Cost {
  const arms = node.arms.map((arm) =>
    blockCost(arm, { block: undefined, known: null, stopped: false, resultRows: of.resultRows }, facts)
  );
  const reads = arms.reduce((sum, arm) => sum + arm.reads, 0);
  const looped = arms.reduce((sum, arm) => sum + arm.looped, 0);
  // Duplicates are dropped through a table that is read back at the end.
  const distinct = node.operators.some((operator) => !operator.startsWith("UNION ALL"));
  return { reads: reads + (distinct ? of.resultRows : 0), looped };
}

function sourceCost(
  node: PlanNode & { type: "source" },
  of: BlockFacts,
  facts: CostFacts,
): { cost: number; rows: number } {
  const step = node.children.find((child) => child.type === "recursion" && child.step);
  if (step?.type === "recursion") return recursionCost(node, step.children, of, facts);
  const { text } = facts;
  const innermost = !node.children.some((child) => child.type === "source");
  const windows = innermost && text.tokens.some((token) => token.key === "OVER");
  const known = windows && of.block?.windows && of.block.limit === null ? of.known : null;
  const own = text.blocks[Number(/^\(subquery-(\d+)\)$/.exec(node.name)?.[1] ?? 0) - 1] ??
    text.blocks.find((block) => block.name !== "" && block.name === node.name);
  const block = own ?? (windows ? of.block : undefined);
  const cost = blockCost(
    node.children,
    { block, known, stopped: false, resultRows: of.resultRows },
    facts,
  );
  const rows = block?.aggregate && !block.grouped ? 1 : Math.min(cost.looped, own?.limit ?? Infinity);
  // A window stores the rows of its partition and reads them again for the values, the frame and the neighbours.
  const passes = text.tokens.some((token) => NEIGHBOURS.has(token.key)) ? 3 : 2;
  return { cost: cost.reads + (windows ? passes * cost.looped : 0), rows };
}

const NEIGHBOURS = new Set(["LAG", "LEAD", "NTH_VALUE"]);

/** The recursion reads each row from its queue and runs its step once for it. */
function recursionCost(
  node: PlanNode & { type: "source" },
  step: readonly PlanNode[],
  of: BlockFacts,
  facts: CostFacts,
) {
  const rows = of.known ??
    (of.block?.aggregate || of.resultRows === 0 ? RECURSIVE_ROWS : Math.max(RECURSIVE_ROWS, of.resultRows));
  const inner: CostFacts = {
    ...facts,
    sources: new Map([...facts.sources, [node.name, { rows: 1, materialized: false }]]),
  };
  const none = { block: undefined, stopped: false, resultRows: 1 };
  const once = blockCost(step, { ...none, known: 1 }, inner).reads;
  const setup = node.children.filter((child) => child.type === "recursion" && !child.step);
  const before = blockCost(setup, { ...none, known: null }, facts).reads;
  return { cost: before + rows * (1 + once), rows };
}
