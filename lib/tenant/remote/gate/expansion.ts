// How much a statement amounts to once its views and CTEs stand in it, each as often as it is named: an engine copies them
// when it compiles, and a server that does so cannot be stopped.
import { parseStmt } from "../../../sql/grammar/grammar.ts";
import { type EngineFailure, plainFailure } from "../../../engine/engine_failure.ts";
import type { PlannedWidths } from "../../../sql/grammar/planned_widths.ts";
import { sqlTokens } from "../../../sql/tokens/sql_tokens.ts";
import { type Join, weightOf, WIDE_JOIN } from "./join_weight.ts";
import { type Body, bodyOf, lower } from "./statement_body.ts";

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
export const LIGHT_WEIGHT = 150;

/** What of the weight of a call has come so far. */
export interface CallWeight {
  sum: number;
  /** Characters of what was compiled, with all that stands in it. */
  characters: number;
  /** Of the widest table that it has made. */
  columns: number;
}

/** Of a call that begins. */
export function noWeight(): CallWeight {
  return { sum: 0, characters: 0, columns: 0 };
}

/** What takes the engine some tenths of a second; twice as much takes it four times as long. */
const MAX_CONJUNCTION = 2000;
const MAX_OPERATIONS = 10_000;
const MAX_WINDOWS = 200;

/** Why the engine is not to plan what is so wide; null: it may. */
export function tooWide(
  { conjunction, operations, windows }: PlannedWidths,
  call = noWeight(),
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

/** Of a body by itself. */
const queriesOf = ({ queries }: Body) => queries;
const partsOf = ({ queries, uses }: Body) => queries + uses.length;
const charactersOf = ({ characters }: Body) => characters;

/** In any quotes such a name stands in a text as it is, but for its case. */
const PLAIN_NAME = /^[a-z0-9_$]+$/;

interface Refusal {
  readonly ok: false;
  readonly failure: EngineFailure;
}

/** What a statement amounts to with its views and CTEs in it, each as often as it is named. */
export interface Amount {
  readonly queries: number;
  /** Queries, and the tables, views and CTEs that they name. */
  readonly parts: number;
  readonly characters: number;
  /** Of its joins. */
  readonly weight: number;
}

export class Expansion {
  readonly #views: Map<string, Body>;
  readonly #triggers: Map<string, Body>;
  /** Queries of all triggers; null until they are counted. */
  #fired: number | null = null;
  /** The weight of the joins of all triggers; null until it is found. */
  #firedWeight: number | null = null;
  /** Characters of all triggers; null until they are counted. */
  #firedCharacters: number | null = null;

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
    this.#firedCharacters = null;
    const body = bodyOf(root, sql.length);
    if (root.type === "CreateViewStmt") this.#views.set(lower(root.viewName.objName.text), body);
    if (root.type === "CreateTriggerStmt") this.#triggers.set(lower(root.triggerName.objName.text), body);
  }

  /** Why the engine is not to compile the statement, which names so many tables; null: it may. */
  refusal(sql: string, tables = WIDE_JOIN, call = noWeight()): Refusal | null {
    const own = countQueries([sql]);
    if (own > MAX_QUERIES) return refused(`Use at most ${MAX_QUERIES} queries in one statement`);
    const amount = this.amount(sql, tables);
    if (amount === null) return null;
    const { queries, weight } = amount;
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

  /** What the statement, which names so many tables, amounts to; all triggers count where it writes. Null: it does not parse. */
  amount(sql: string, tables: number, writes = true): Amount | null {
    const own = countQueries([sql]);
    // Most need not be parsed, which takes long for a long text.
    const isPlain = tables < WIDE_JOIN && this.#allFiredWeight() === 0 && this.#standsAlone(sql);
    if (isPlain && own + this.#allFired() <= MAX_EXPANDED) {
      const [queries, characters] = writes ? [this.#allFired(), this.#allFiredCharacters()] : [0, 0];
      return { queries: own + queries, parts: own + tables, characters: sql.length + characters, weight: 0 };
    }
    const parsed = parseStmt(sql);
    if (parsed.status === "error") return null;
    const body = bodyOf(parsed.root, sql.length);
    const fired = (count: () => number) => body.writes ? count() : 0;
    return {
      queries: this.#expanded(body, queriesOf) + fired(() => this.#allFired()),
      parts: this.#expanded(body, partsOf),
      characters: this.#expanded(body, charactersOf) + fired(() => this.#allFiredCharacters()),
      weight: this.#weight(body.joins) + fired(() => this.#allFiredWeight()),
    };
  }

  /** What all views amount to together. */
  get views(): Pick<Amount, "parts" | "characters"> {
    const sum = (of: (body: Body) => number) =>
      this.#views.values().reduce((all, view) => all + this.#expanded(view, of), 0);
    return { parts: sum(partsOf), characters: sum(charactersOf) };
  }

  #allFiredCharacters(): number {
    return this.#firedCharacters ??= this.#triggers.values()
      .reduce((sum, trigger) => sum + this.#expanded(trigger, charactersOf), 0);
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
      .reduce((queries, trigger) => queries + this.#expanded(trigger, queriesOf), 0);
  }

  /** `known`: of each body; one that names itself, as a recursive CTE, is not copied for that. */
  #expanded(body: Body, of: (body: Body) => number, known = new Map<Body, number>()): number {
    const found = known.get(body);
    if (found !== undefined) return found;
    // So deep this goes and no deeper, whatever views there are.
    if (known.size > MAX_EXPANDED) return MAX_EXPANDED + 1;
    known.set(body, 0);
    let sum = of(body);
    for (const use of body.uses) {
      const used = typeof use === "string" ? this.#views.get(use) : use;
      if (used) sum += this.#expanded(used, of, known);
    }
    known.set(body, sum);
    return sum;
  }
}

function refused(message: string): Refusal {
  return { ok: false, failure: plainFailure("too_big", message) };
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
