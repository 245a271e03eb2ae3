// Whether two words are one word in different forms: "teach" and "teacher", "enrolled" and "enrollments".
import { wordForms } from "../../schema/search_words.ts";

const endings = /(?:ments?|ings?|ers?|ors?|ed|ations?|ions?|als?|ances?|ents?|ees?|s)$/;
/** Words whose forms are kept: those of names and descriptions come with every question. */
const MAX_KEPT = 10_000;
const kept = new Map<string, readonly string[]>();

/** Longer words are no words. */
const MAX_LENGTH = 40;

/** The forms of a word, see `wordForms`, and its root behind a `~`, where that is long enough to tell anything. */
export function formsOf(word: string): readonly string[] {
  if (word.length > MAX_LENGTH) return [word];
  const known = kept.get(word);
  if (known) return known;
  const forms = wordForms(word);
  const roots = forms.map(rootOf).filter((root) => root.length >= 4).map((root) => `~${root}`);
  const all = [...new Set([...forms, ...roots])];
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(word, all);
  return all;
}

/** Both by their forms. "arriving" is not "arrived": what goes on is not what has happened. */
export function isAlike(one: readonly string[], other: readonly string[]): boolean {
  if (/ing$/.test(one[0] ?? "") && /ed$/.test(other[0] ?? "")) return false;
  return one.some((form) => other.includes(form));
}

/** Whether they share more than a root. */
export function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.some((form) => !form.startsWith("~") && other.includes(form));
}

function rootOf(word: string): string {
  return word.replace(endings, "").replace(/(?<=[^aeiou])([^aeiou])\1$/, "$1").replace(/e$/, "");
}
