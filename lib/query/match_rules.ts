// Finds the rules that a write matches, by the engine's facts about what it writes, whatever the number of rows. Pure.
import { beginning } from "../core/plain_text.ts";
import { matchesGlob } from "./matches_glob.ts";
import type { StatementFacts } from "../sql/grammar/statement_facts.ts";
import type { RuleHit, RuleRecord } from "../store/write_records.ts";

/** A rule and its hits in the call: each table and action once, those that a statement names first. */
export interface RuleMatch {
  readonly rule: RuleRecord;
  readonly hits: readonly RuleHit[];
  /** The hits in the form in which they are compared with what an approval covers. */
  readonly about: readonly string[];
}

const MAX_HITS = 20;
/** Characters of all hits together: a record of Deno KV has 64 KiB, and a character takes up to two bytes there. */
const MAX_HITS_LENGTH = 28_000;
/** Characters of a table's name in a hit, so that one hit always fits, whatever its note. */
const MAX_NAME_LENGTH = 1000;

/** Chooses the hits that people are shown: `fittingHits` in the order of the rules, with the same share for each. */
export function hitsOf(matches: readonly RuleMatch[]): RuleHit[] {
  const share = Math.max(1, Math.floor(MAX_HITS / matches.length));
  return fittingHits(matches.flatMap(({ hits }) => hits.slice(0, share)));
}

/** Takes the first hits, as many as an approval stores: at most 20, and at least one. */
export function fittingHits(hits: readonly RuleHit[]): RuleHit[] {
  let left = MAX_HITS_LENGTH;
  return hits.slice(0, MAX_HITS).filter((hit) => (left -= JSON.stringify(hit).length) >= 0);
}

type Written = Pick<RuleHit, "table" | "action">;

/** What statements do to one table, and whether without a bound. */
interface Effect extends Written {
  readonly isUnbounded: boolean;
}

/** Finds the enabled rules that match, whatever the number of rows; one match for each rule. */
export function matchRules(rules: readonly RuleRecord[], facts: readonly StatementFacts[]): RuleMatch[] {
  const matches: RuleMatch[] = [];
  const effects = rules.length === 0 ? [] : effectsOf(facts);
  for (const rule of rules) {
    if (!rule.enabled) continue;
    const { id, tableGlob, effect, note } = rule;
    const found = new Map(
      effects.filter((one) => isAbout(rule, one)).map((one) => [`${id} ${one.action} ${one.table}`, one]),
    );
    if (found.size === 0) continue;
    const hits = [...found.values()].map(({ table, action }) => {
      return { ruleId: id, tableGlob, effect, table: shownName(table), action, note };
    });
    matches.push({ rule, hits, about: [...found.keys()] });
  }
  return matches;
}

function isAbout(rule: RuleRecord, { table, action, isUnbounded }: Effect): boolean {
  return (!rule.unboundedOnly || isUnbounded) && (rule.actions === null || rule.actions.includes(action)) &&
    matchesGlob(rule.tableGlob, table);
}

/**
 * Each effect once, of each statement that on the table which it names first: a hundred statements may all reach the same
 * thousand tables by cascades, and every rule looks at all of them.
 */
function effectsOf(facts: readonly StatementFacts[]): Effect[] {
  const found = new Map<string, Effect>();
  for (const one of new Set(facts)) {
    if (one.class !== "write" && one.class !== "schema") continue;
    const target = one.target?.toLowerCase();
    const isNamed = ({ table }: Written) => Number(table.toLowerCase() === target);
    const isUnbounded = unboundedIn(one);
    for (const written of one.actions.map(readAction).sort((a, b) => isNamed(b) - isNamed(a))) {
      const effect = { ...written, isUnbounded: isUnbounded(written.table) };
      const key = `${effect.isUnbounded} ${effect.action} ${effect.table}`;
      if (!found.has(key)) found.set(key, effect);
    }
  }
  return [...found.values()];
}

/**
 * Whether the statement changes rows of a table without a bound. Of schema changes, only those that remove its rows
 * do.
 */
function unboundedIn(facts: StatementFacts): (table: string) => boolean {
  const emptied = new Set(facts.emptied);
  const actions = new Set(facts.actions);
  const isAlways = facts.verb !== "insert" && (!facts.hasWhere || facts.constantWhere === true);
  return (table) =>
    emptied.has(table) || (facts.class === "schema" ? actions.has(`delete ${table}`) : isAlways);
}

function shownName(name: string): string {
  return name.length <= MAX_NAME_LENGTH ? name : `${beginning(name, MAX_NAME_LENGTH)}…`;
}

function readAction(text: string): Written {
  const space = text.indexOf(" ");
  const word = text.slice(0, space);
  const action = word === "insert" || word === "update" || word === "delete" ? word : "schema";
  return { table: text.slice(space + 1), action };
}
