// How long an engine may plan the joins of a statement, as far as the text tells: it tries the tables of a join in many orders,
// and for each column of an index each comparison that could lead there. Some hundred characters take it a minute.
import { type AstNode, traverse } from "sqlite3-parser";
import { columnsOf } from "../../../sql/grammar/planned_widths.ts";

/** What is planned together. What an engine may put into a join that is around it counts there. */
export interface Join {
  tables: number;
  /** Comparisons, of row values each of their columns. */
  terms: number;
  /** Names of tables or views, in lower case: they are no part of `tables`. */
  readonly uses: string[];
  /** The parts of each UNION in it: the join may be planned once for each part, with that part in it. */
  readonly unions: (readonly Join[])[];
}

/** A join with all that is in it. `copies`: how often it is planned. */
interface Whole {
  tables: number;
  terms: number;
  copies: number;
}

/** Tables from which on a join takes long; below, its weight has a bound. */
export const WIDE_JOIN = 5;
const MAX_NARROW = 20;
/** More of everything is as much: it is above every bound. */
const MOST = 10_000;
const MOST_USES = 500;
const MOST_KNOWN = 2000;
/** Comparisons that NATURAL stands for: the columns of the tables are not looked up. */
const NATURAL_TERMS = 16;
/** The grammar's bit for NATURAL. */
const NATURAL = 4;
const COMPARISONS: ReadonlySet<string> = new Set(
  ["Equals", "NotEquals", "Is", "IsNot", "Less", "LessEquals", "Greater", "GreaterEquals"],
);

function newJoin(tables = 0): Join {
  return { tables, terms: 0, uses: [], unions: [] };
}

function merge(into: Join, { tables, terms, uses, unions }: Join): void {
  into.tables = Math.min(MOST, into.tables + tables);
  into.terms = Math.min(MOST, into.terms + terms);
  if (into.uses.length < MOST_USES) into.uses.push(...uses);
  if (into.unions.length < MOST_USES) into.unions.push(...unions);
}

/** The joins of a statement, of a view's definition or of a trigger's. */
export function joinsOf(root: AstNode): Join[] {
  const joins: Join[] = [];
  /** A list: the parts of a UNION. Null: an expression with queries that are planned for themselves. */
  const open: (Join | Join[] | null)[] = [];
  const scopes: Map<string, Join>[] = [];
  const innermost = () => {
    const join = open.at(-1);
    return join instanceof Array ? null : join ?? null;
  };
  const begin = (join: Join | Join[] | null) => open.push(join);
  const end = () => {
    const join = open.pop();
    const around = open.at(-1);
    if (!join || join instanceof Array) return;
    if (around instanceof Array) around.push(join);
    else if (around) merge(around, join);
    else joins.push(join);
  };
  const use = (name: string) => {
    const join = innermost();
    if (join === null) return;
    const key = name.toLowerCase();
    const cte = scopes.findLast((scope) => scope.has(key))?.get(key);
    if (cte) merge(join, cte);
    else if (join.uses.length < MOST_USES) join.uses.push(key);
  };
  traverse(root, {
    enter(node) {
      const join = innermost();
      if (join) join.terms = Math.min(MOST, join.terms + termsOf(node));
      if ("with" in node && node.with) scopes.push(new Map());
      switch (node.type) {
        case "SubqueryExpr":
        case "InSelectExpr":
          begin(null);
          break;
        case "SelectFrom":
        case "CommonTableExpr":
          begin(newJoin());
          break;
        case "UpdateStmt":
        case "DeleteStmt":
        case "UpdateTriggerCmd":
        case "DeleteTriggerCmd":
          begin(newJoin(1));
          break;
        case "TableSelectTable":
          use(node.tblName.objName.text);
          break;
        case "TableCallSelectTable":
          if (join) join.tables++;
          break;
        case "Select":
          if (join && node.compounds) begin([]);
      }
    },
    leave(node) {
      switch (node.type) {
        case "SubqueryExpr":
        case "InSelectExpr":
          open.pop();
          break;
        case "SelectFrom":
        case "UpdateStmt":
        case "DeleteStmt":
        case "UpdateTriggerCmd":
        case "DeleteTriggerCmd":
          end();
          break;
        case "Select": {
          const parts = node.compounds ? open.at(-1) : null;
          if (!(parts instanceof Array)) break;
          open.pop();
          innermost()?.unions.push(parts);
          break;
        }
        case "CommonTableExpr": {
          const cte = open.pop();
          if (cte && !(cte instanceof Array)) scopes.at(-1)?.set(node.tblName.text.toLowerCase(), cte);
        }
      }
      if ("with" in node && node.with) scopes.pop();
    },
  });
  return joins;
}

function termsOf(node: AstNode): number {
  switch (node.type) {
    case "BinaryExpr":
      return COMPARISONS.has(node.op) ? Math.max(columnsOf(node.left), columnsOf(node.right)) : 0;
    case "InListExpr":
    case "InSelectExpr":
    case "InTableExpr":
      return columnsOf(node.lhs);
    case "BetweenExpr":
      return 2;
    case "LikeExpr":
    case "IsNullExpr":
    case "NotNullExpr":
      return 1;
    case "UsingJoinConstraint":
      return node.columns.length;
    case "TypedJoinJoinOperator":
      return ((node.joinType ?? 0) & NATURAL) === 0 ? 0 : NATURAL_TERMS;
    default:
      return 0;
  }
}

type ViewOf = (name: string) => readonly Join[] | undefined;

/** What is known of joins and of views; null while they are looked at. */
type Known = Map<Join | string, Whole | null>;

/** The weight of all of them together. `viewOf`: the joins of a view; undefined: the name is a table's. */
export function weightOf(joins: readonly Join[], viewOf: ViewOf): number {
  const known: Known = new Map();
  return Math.min(MOST, joins.reduce((sum, join) => sum + weight(whole(join, viewOf, known)), 0));
}

function whole(join: Join, viewOf: ViewOf, known: Known): Whole {
  const found = known.get(join);
  if (found) return found;
  // So deep this goes and no deeper, whatever views there are.
  if (known.size > MOST_KNOWN) return { tables: MOST, terms: MOST, copies: 1 };
  known.set(join, null);
  const all: Whole = { tables: join.tables, terms: join.terms, copies: 1 };
  for (const name of join.uses) put(all, view(name, viewOf, known));
  for (const parts of join.unions) put(all, union(parts, viewOf, known));
  known.set(join, all);
  return all;
}

/** One that names itself is not copied for that. */
function view(name: string, viewOf: ViewOf, known: Known): Whole {
  const found = known.get(name);
  if (found !== undefined) return found ?? { tables: 0, terms: 0, copies: 1 };
  const parts = viewOf(name);
  if (parts === undefined) return { tables: 1, terms: 0, copies: 1 };
  known.set(name, null);
  const all = union(parts, viewOf, known);
  known.set(name, all);
  return all;
}

function union(parts: readonly Join[], viewOf: ViewOf, known: Known): Whole {
  const most: Whole = { tables: 0, terms: 0, copies: 0 };
  for (const part of parts) {
    const { tables, terms, copies } = whole(part, viewOf, known);
    most.tables = Math.max(most.tables, tables);
    most.terms = Math.max(most.terms, terms);
    most.copies = Math.min(MOST, most.copies + copies);
  }
  return { ...most, copies: Math.max(1, most.copies) };
}

function put(into: Whole, { tables, terms, copies }: Whole): void {
  into.tables = Math.min(MOST, into.tables + tables);
  into.terms = Math.min(MOST, into.terms + terms);
  into.copies = Math.min(MOST, into.copies * copies);
}

function weight({ tables, terms, copies }: Whole): number {
  if (tables < 2) return 0;
  const one = tables * terms;
  return copies * (tables < WIDE_JOIN ? Math.min(one, MAX_NARROW) : one);
}
