// How many queries a statement amounts to once its views and CTEs stand in it, each as often as it is named: the engine
// copies them when it compiles, which here happens in the service's own process, where nobody could stop it.
import { type AstNode, parseStmt, traverse } from "sqlite3-parser";
import { type EngineFailure, plainFailure } from "../../../engine/engine_failure.ts";
import type { PlannedWidths } from "../../../sql/planned_widths.ts";
import { sqlTokens } from "../../../sql/sql_tokens.ts";
import { type Join, joinsOf, weightOf, WIDE_JOIN } from "./join_weight.ts";

/**
 * Queries in one statement, and in one schema for the runtime's own engine: no path through both is longer. An engine
 * compiles by recursion, and `node:sqlite` ends the whole process at some 2500 queries inside one another.
 */
export const MAX_QUERIES = 250;
/** Queries that a statement may amount to, those of all triggers included where it writes. */
const MAX_EXPANDED = 1000;
/** Tables of a join times its comparisons, of all joins together: what takes the engine a third of a second at most. */
const MAX_WEIGHT = 1500;
/** Of all statements of a call that are heavier than that: a hundred of the others take as long. */
const MAX_CALL_WEIGHT = 3000;
const LIGHT_WEIGHT = 150;

/** What of the weight of a call has come so far. */
export interface CallWeight {
  sum: number;
}

/** What takes the engine some tenths of a second; twice as much takes it four times as long. */
const MAX_CONJUNCTION = 2000;
const MAX_OPERATIONS = 10_000;
const MAX_WINDOWS = 200;

/** Why the engine is not to plan what is so wide; null: it may. */
export function tooWide(
  { conjunction, operations, windows }: PlannedWidths,
  call: CallWeight = { sum: 0 },
): Refusal | null {
  if (conjunction > MAX_CONJUNCTION) {
    return refused(`Use at most ${MAX_CONJUNCTION} comparisons with AND between them`);
  }
  if (windows > MAX_WINDOWS) {
    return refused(`Use at most ${MAX_WINDOWS} functions with OVER in one statement`);
  }
  if (operations > MAX_OPERATIONS) {
    return refused(`Use at most ${MAX_OPERATIONS} operators and arms of CASE in one statement`);
  }
  const shares = [conjunction / MAX_CONJUNCTION, operations / MAX_OPERATIONS, windows / MAX_WINDOWS];
  const weight = MAX_WEIGHT * shares.reduce((sum, share) => sum + share ** 2, 0);
  if (weight > LIGHT_WEIGHT) call.sum += weight;
  return call.sum > MAX_CALL_WEIGHT ? refused("Send fewer of such long expressions in one call") : null;
}

/** In any quotes such a name stands in a text as it is, but for its case. */
const PLAIN_NAME = /^[a-z0-9_$]+$/;

interface Refusal {
  readonly ok: false;
  readonly failure: EngineFailure;
}

/** What a statement, a CTE, a view or a trigger is made of. */
interface Body {
  queries: number;
  writes: boolean;
  /** CTEs, and names of what may be views. */
  readonly uses: (Body | string)[];
  /** Of a statement, a view or a trigger. */
  joins: readonly Join[];
}

export class Expansion {
  readonly #views: Map<string, Body>;
  readonly #triggers: Map<string, Body>;
  /** Queries of all triggers; null until they are counted. */
  #fired: number | null = null;
  /** The weight of the joins of all triggers; null until it is found. */
  #firedWeight: number | null = null;

  constructor(schema: readonly string[], base: Expansion | null = null) {
    this.#views = new Map(base === null ? [] : base.#views);
    this.#triggers = new Map(base === null ? [] : base.#triggers);
    for (const sql of schema) this.add(sql);
  }

  /** For what a batch adds to the schema. */
  copy(): Expansion {
    return new Expansion([], this);
  }

  /** A statement that has changed the schema. */
  add(sql: string): void {
    if (!/\b(?:view|trigger)\b/i.test(sql)) return;
    const parsed = parseStmt(sql);
    if (parsed.status === "error") return;
    const { root } = parsed;
    this.#fired = null;
    this.#firedWeight = null;
    if (root.type === "CreateViewStmt") this.#views.set(lower(root.viewName.objName.text), bodyOf(root));
    if (root.type === "CreateTriggerStmt") {
      this.#triggers.set(lower(root.triggerName.objName.text), bodyOf(root));
    }
  }

  /** Why the engine is not to compile the statement, which names so many tables; null: it may. */
  refusal(sql: string, tables = WIDE_JOIN, call: CallWeight = { sum: 0 }): Refusal | null {
    const own = countQueries([sql]);
    if (own > MAX_QUERIES) return refused(`Use at most ${MAX_QUERIES} queries in one statement`);
    // Most need not be parsed, which takes long for a long text.
    const isPlain = tables < WIDE_JOIN && this.#allFiredWeight() === 0 && this.#standsAlone(sql);
    if (isPlain && own + this.#allFired() <= MAX_EXPANDED) return null;
    const parsed = parseStmt(sql);
    if (parsed.status === "error") return null;
    const body = bodyOf(parsed.root);
    let queries = this.#expanded(body, new Map());
    if (body.writes) queries += this.#allFired();
    const weight = this.#weight(body.joins) + (body.writes ? this.#allFiredWeight() : 0);
    if (weight > LIGHT_WEIGHT) call.sum += weight;
    if (weight > MAX_WEIGHT || call.sum > MAX_CALL_WEIGHT) {
      return refused(
        "Join fewer tables or compare less; the tables of a join times its comparisons may be " +
          `${MAX_WEIGHT} in one statement and ${MAX_CALL_WEIGHT} in one call`,
      );
    }
    if (queries <= MAX_EXPANDED) return null;
    return refused(
      `Use at most ${MAX_EXPANDED} queries in one statement; views and CTEs count as often as they are named`,
    );
  }

  #allFiredWeight(): number {
    return this.#firedWeight ??= this.#weight(
      this.#triggers.values().flatMap(({ joins }) => joins).toArray(),
    );
  }

  #weight(joins: readonly Join[]): number {
    return weightOf(joins, (name) => this.#views.get(name)?.joins);
  }

  /** Whether the text shows that it has no CTE and names no view. */
  #standsAlone(sql: string): boolean {
    const text = lower(sql);
    return !text.includes("with") &&
      this.#views.keys().every((name) => PLAIN_NAME.test(name) && !text.includes(name));
  }

  #allFired(): number {
    return this.#fired ??= this.#triggers.values()
      .reduce((queries, trigger) => queries + this.#expanded(trigger, new Map()), 0);
  }

  /** `known`: of each body; one that names itself, as a recursive CTE, is not copied for that. */
  #expanded(body: Body, known: Map<Body, number>): number {
    const found = known.get(body);
    if (found !== undefined) return found;
    // So deep this goes and no deeper, whatever views there are.
    if (known.size > MAX_EXPANDED) return MAX_EXPANDED + 1;
    known.set(body, 0);
    let queries = body.queries;
    for (const use of body.uses) {
      const used = typeof use === "string" ? this.#views.get(use) : use;
      if (used) queries += this.#expanded(used, known);
    }
    known.set(body, queries);
    return queries;
  }
}

function bodyOf(root: AstNode): Body {
  const body: Body = { ...emptyBody(), joins: joinsOf(root) };
  const owners = [body];
  const scopes: Map<string, Body>[] = [];
  const owner = () => owners.at(-1) ?? body;
  const use = (name: string) => {
    const key = lower(name);
    owner().uses.push(scopes.findLast((scope) => scope.has(key))?.get(key) ?? key);
  };
  traverse(root, {
    enter(node) {
      if ("with" in node && node.with) {
        const made = node.with.ctes.map(({ tblName }) => [lower(tblName.text), emptyBody()] as const);
        scopes.push(new Map(made));
      }
      switch (node.type) {
        case "CommonTableExpr":
          owners.push(scopes.at(-1)?.get(lower(node.tblName.text)) ?? body);
          break;
        case "SelectFrom":
          owner().queries++;
          break;
        case "TableSelectTable":
          use(node.tblName.objName.text);
          break;
        case "InTableExpr":
          use(node.rhs.objName.text);
          break;
        case "InsertStmt":
        case "UpdateStmt":
        case "DeleteStmt":
          body.writes = true;
          use(node.tblName.objName.text);
          break;
      }
    },
    leave(node) {
      if ("with" in node && node.with) scopes.pop();
      if (node.type === "CommonTableExpr") owners.pop();
    },
  });
  return body;
}

function emptyBody(): Body {
  return { queries: 0, writes: false, uses: [], joins: [] };
}

function refused(message: string): Refusal {
  return { ok: false, failure: plainFailure("too_big", message) };
}

function lower(name: string): string {
  return name.toLowerCase();
}

/** Every query, also each of a chain of CTEs or views, has one of these words of its own. */
const QUERIES: ReadonlySet<string> = new Set(["SELECT", "VALUES"]);

/** Queries that the texts hold, whether inside one another or not. */
export function countQueries(texts: readonly string[]): number {
  let count = 0;
  for (const text of texts) {
    const words = text.match(/\b(?:select|values)\b/gi)?.length ?? 0;
    // Most texts have few; only the others are worth telling words from values.
    count += words <= MAX_QUERIES ? words : sqlTokens(text).filter(({ key }) => QUERIES.has(key)).length;
  }
  return count;
}
