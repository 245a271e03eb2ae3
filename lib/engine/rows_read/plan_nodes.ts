// The tree of EXPLAIN QUERY PLAN as typed nodes (sqlite.org/eqp.html). An unknown line becomes `other`.

/** One row of EXPLAIN QUERY PLAN. */
export interface PlanRow {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
}

/** A loop over the rows of a table, view or subquery: over all of them (`scan`) or by key. */
export interface LoopNode {
  readonly type: "loop";
  readonly scan: boolean;
  /** Table, alias or subquery name, lower case. */
  readonly name: string;
  readonly access: "table" | "rowid" | "primary_key" | "index" | "automatic" | "virtual";
  readonly index: string | null;
  /** Left-hand columns of `=` terms, and how many range terms follow. */
  readonly equal: readonly string[];
  readonly ranges: number;
  readonly exists: boolean;
  /** The argument that a virtual table gets; empty when all its rows are read. */
  readonly virtualArgument: string;
}

/** One node of a plan's tree. */
export type PlanNode =
  | LoopNode
  | { readonly type: "constant"; readonly rows: number }
  | { readonly type: "or"; readonly children: readonly PlanNode[] }
  | {
    readonly type: "subquery";
    readonly list: boolean;
    readonly correlated: boolean;
    readonly id: number;
    readonly children: readonly PlanNode[];
  }
  | {
    readonly type: "source";
    readonly name: string;
    readonly materialized: boolean;
    readonly children: readonly PlanNode[];
  }
  | {
    readonly type: "compound";
    readonly operators: readonly string[];
    readonly arms: readonly (readonly PlanNode[])[];
  }
  | { readonly type: "sort"; readonly by: "order" | "last_terms" | "group" | "other" }
  | { readonly type: "recursion"; readonly step: boolean; readonly children: readonly PlanNode[] }
  | { readonly type: "other"; readonly children: readonly PlanNode[] };

/** Builds the tree. `names` are the tables and aliases (lower case) that it may contain. */
export function planNodes(rows: readonly PlanRow[], names: ReadonlySet<string>): PlanNode[] {
  const of = known(names);
  const byParent = Map.groupBy(rows, (row) => row.parent);
  const below = (id: number): PlanNode[] => (byParent.get(id) ?? []).map(node);
  const node = (row: PlanRow): PlanNode => {
    const { detail } = row;
    if (detail.startsWith("SCAN ")) return scan(detail.slice(5), of);
    if (detail.startsWith("SEARCH ")) return loop(false, detail.slice(7), of);
    if (detail === "MULTI-INDEX OR") return { type: "or", children: below(row.id) };
    if (detail === "COMPOUND QUERY" || detail.startsWith("MERGE (")) return compound(row, byParent, below);
    if (detail.startsWith("USE TEMP B-TREE FOR ")) return { type: "sort", by: sortedBy(detail.slice(20)) };
    if (detail === "SETUP") return { type: "recursion", step: false, children: below(row.id) };
    if (detail === "RECURSIVE STEP") return { type: "recursion", step: true, children: below(row.id) };
    const source = /^(CO-ROUTINE|MATERIALIZE) (.+)$/s.exec(detail);
    if (source) {
      return {
        type: "source",
        name: (source[2] ?? "").toLowerCase(),
        materialized: source[1] === "MATERIALIZE",
        children: below(row.id),
      };
    }
    const sub = /^(CORRELATED )?(SCALAR|LIST) SUBQUERY (\d+)$/.exec(detail);
    if (sub) {
      const [, correlated, kind, id] = sub;
      return {
        type: "subquery",
        list: kind === "LIST",
        correlated: correlated !== undefined,
        id: Number(id),
        children: below(row.id),
      };
    }
    return { type: "other", children: below(row.id) };
  };
  return below(0);
}

function scan(rest: string, names: KnownNames): PlanNode {
  const constant = /^(?:CONSTANT ROW|(\d+) CONSTANT ROWS|(\d+)-ROW VALUES CLAUSE)$/.exec(rest);
  return constant
    ? { type: "constant", rows: Number(constant[1] ?? constant[2] ?? 1) }
    : loop(true, rest, names);
}

function loop(isScan: boolean, rest: string, names: KnownNames): LoopNode {
  const name = knownPrefix(rest, names) ??
    (/^(\([^)]*\)|.+?)(?= USING | VIRTUAL TABLE | EXISTS| (?:LEFT|RIGHT|FULL)-JOIN|$)/s.exec(rest)?.[1] ??
      rest);
  const after = rest.slice(name.length);
  const terms = (/\(((?:[^()]|\([^()]*\))*)\)(?: (?:LEFT|RIGHT|FULL)-JOIN)?$/.exec(after)?.[1] ?? "").split(
    " AND ",
  ).filter((term) => term !== "");
  const index = /INDEX (.+?)(?: \(|$| (?:LEFT|RIGHT|FULL)-JOIN)/s.exec(after)?.[1] ?? null;
  const virtual = / VIRTUAL TABLE INDEX \d+:(.*)$/s.exec(after);
  return {
    type: "loop",
    scan: isScan,
    name: name.toLowerCase(),
    access: virtual ? "virtual" : accessOf(after),
    index,
    equal: terms.filter((term) => term.endsWith("=?") && !/[<>]=?\?$/.test(term)).map((term) =>
      term.slice(0, -2).toLowerCase()
    ),
    ranges: terms.filter((term) => /[<>]=?\?$/.test(term)).length,
    exists: after.startsWith(" EXISTS"),
    virtualArgument: virtual?.[1] ?? "",
  };
}

function accessOf(after: string): LoopNode["access"] {
  if (after.includes("USING INTEGER PRIMARY KEY")) return "rowid";
  if (after.includes("USING PRIMARY KEY")) return "primary_key";
  if (/USING AUTOMATIC /.test(after)) return "automatic";
  return / USING (?:COVERING )?INDEX /.test(after) ? "index" : "table";
}

/** The names that a plan may contain, and how long they are, the longest first. */
interface KnownNames {
  readonly names: ReadonlySet<string>;
  readonly lengths: readonly number[];
}

function known(names: ReadonlySet<string>): KnownNames {
  const lengths = new Set([...names].map(({ length }) => length));
  return { names, lengths: [...lengths].sort((a, b) => b - a) };
}

/**
 * Finds the longest known name with which the text begins: a table may be called `t USING INDEX x`. Looks at no more
 * characters than the known names have: an index in the text may be called by a hundred thousand words.
 */
function knownPrefix(rest: string, { names, lengths }: KnownNames): string | undefined {
  const lower = rest.toLowerCase();
  const end = lengths.find((length) =>
    length > 0 && (length === lower.length || lower[length] === " ") && names.has(lower.slice(0, length))
  );
  return end === undefined ? undefined : rest.slice(0, end);
}

function compound(
  row: PlanRow,
  byParent: ReadonlyMap<number, readonly PlanRow[]>,
  below: (id: number) => PlanNode[],
): PlanNode {
  const arms = byParent.get(row.id) ?? [];
  const merge = /^MERGE \((.+)\)$/.exec(row.detail)?.[1];
  const operators = merge !== undefined
    ? [merge]
    : arms.map((arm) => arm.detail).filter((detail) => detail !== "LEFT-MOST SUBQUERY");
  return { type: "compound", operators, arms: arms.map((arm) => below(arm.id)) };
}

function sortedBy(what: string): "order" | "last_terms" | "group" | "other" {
  if (what === "ORDER BY") return "order";
  if (what.endsWith("OF ORDER BY")) return "last_terms";
  return what === "GROUP BY" ? "group" : "other";
}
