// Splits questions, identifiers and descriptions into words: as they are compared, and as people read them.
import { stemmer } from "stemmer";
import { singular } from "../singular.ts";

/** Words that shape a question and name nothing. */
const stopWords: ReadonlySet<string> = new Set(
  ("a about all an and any are as at be been by can could did do does each every find for from get give had has have " +
    "he her his how i in into is it its list many me much my of off on or our select she should show so tell than that " +
    "the their them there these they this those to us use used was we were what when where which who whom whose why " +
    "will with would you your ever still").split(" "),
);

/** Abbreviations in identifiers, and the words that people ask with. */
const abbreviations: ReadonlyMap<string, string> = new Map([
  ...pairs(
    "acct account addr address amt amount avg average bal balance cat category cnt count ctry country",
  ),
  ...pairs(
    "agt agent cust customer dept department desc description dest destination dob birthdate dt date emp employee",
  ),
  ...pairs(
    "env environment img image inv invoice lang language lat latitude lng longitude loc location max maximum",
  ),
  ...pairs(
    "mgr manager min minimum msg message nm name num number org organization pct percent pmt payment prod product prop property",
  ),
  ...pairs(
    "pwd password qty quantity ref reference seq sequence src source tel phone txn transaction typ type usr user yr year",
  ),
]);

/** Lower-case words of a text without accents, as they are compared. */
export function splitWords(text: string): string[] {
  return wordsOf(text.normalize("NFKD").replace(/\p{M}/gu, ""));
}

/** Lower-case words of an identifier as people read them: `Größe_mm` → `größe`, `mm`. */
export function readableWords(name: string): string[] {
  return wordsOf(name.normalize("NFC"));
}

/** Splits at every character that is no letter, mark or digit, such as `_`, and where the case changes. */
function wordsOf(text: string): string[] {
  return text.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/** Words of a question that name something; all its words where none does. */
export function questionWords(question: string): string[] {
  const words = splitWords(question);
  const naming = words.filter((word) => !stopWords.has(word));
  return naming.length > 0 ? naming : words;
}

/** The words of an identifier joined; empty where it has only one. */
export function joinedName(name: string): string {
  const words = splitWords(name);
  return words.length > 1 ? words.join("") : "";
}

/** The forms by which a word is found: itself, its singular, its stem, and what it abbreviates. */
export function wordForms(word: string): string[] {
  const long = abbreviations.get(word);
  const meant = long === undefined ? [word] : [word, long];
  return [...new Set([...meant, singular(word), ...meant.map(stemmer)])];
}

/** `short long short long …`. */
function pairs(text: string): [string, string][] {
  const words = text.split(" ");
  return words.flatMap((word, at): [string, string][] => at % 2 === 0 ? [[word, words[at + 1] ?? word]] : []);
}
