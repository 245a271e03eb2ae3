// What a question says that was mapped to nothing.
import { happenings, harmless, lightVerbs, linkVerbs, timely } from "./lexicon.ts";
import { isFlag } from "./column_kinds.ts";
import type { Condition } from "./plan.ts";
import type { Reading } from "./reading.ts";

/** The first words in a row that have a meaning and were given none; null where everything was understood. */
export function leftOver(reading: Reading): string | null {
  const { tokens, conditions } = reading;
  const dated = conditions.some(({ kind }) => kind === "days");
  const isOpen = (at: number): boolean => {
    const word = reading.word(at);
    if (at >= tokens.length || reading.used[at] || harmless.has(word)) return false;
    if ((linkVerbs.has(word) || lightVerbs.has(word)) && isLastVerb(reading, at)) return false;
    // "now" is a state of a row, not of any value.
    if (/^(now|currently)$/.test(word)) return !conditions.some(isState);
    if (timely.has(word)) return conditions.length === 0;
    if (happenings.has(word)) return !dated;
    if (/^(all|any)$/.test(word)) return !isBeforeNoun(reading, at);
    if (/^(total|altogether|overall)$/.test(word)) {
      return !(reading.measured && reading.word(at - 1) === "in");
    }
    return word !== "but" || conditions.length === 0;
  };
  const at = tokens.findIndex((_, index) => isOpen(index));
  if (at < 0) return null;
  let end = at + 1;
  while (isOpen(end) && end - at < 4) end++;
  return reading.said(at, end).slice(0, 60);
}

function isState(condition: Condition): boolean {
  if (condition.kind === "null" || condition.kind === "days") return true;
  if (condition.kind === "exists") return false;
  return /status|state|stage/i.test(condition.ref.column.name) || isFlag(condition.ref.column);
}

/** "all products", "are there any orders". */
function isBeforeNoun(reading: Reading, at: number): boolean {
  const noun = reading.mentions.find((one) =>
    one.at > at && reading.tokens.slice(at + 1, one.at).every(({ lower }) => harmless.has(lower))
  );
  if (noun === undefined) return false;
  const opens = reading.tokens.slice(0, at).every(({ lower }) => harmless.has(lower));
  return noun.table === reading.subject && noun.table !== null || opens;
}

/** "What courses does the Physics department offer", "where do customers come from": the nouns say what is meant. */
function isLastVerb(reading: Reading, at: number): boolean {
  const rest = reading.tokens.slice(at + 1).every(({ lower }) => harmless.has(lower));
  return rest && reading.tokens.slice(0, at).some(({ lower }) => /^(do|does|did|has|have)$/.test(lower));
}
