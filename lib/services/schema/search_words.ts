// Words of a question, of an identifier or of a description, in the form in which they are compared.
import { stemmer } from "stemmer";

/** Words that shape a question and name nothing. */
const stopWords: ReadonlySet<string> = new Set(
  ("a about all an and any are as at be been by can could did do does each every find for from get give had has have " +
    "he her his how i in into is it its list many me much my of off on or our select she should show so tell than that " +
    "the their them there these they this those to us use used was we were what when where which who whom whose why " +
    "will with would you your ever still").split(" "),
);

/** What identifiers cut short, and the words that people ask with. */
const abbreviations: ReadonlyMap<string, string> = new Map([
  ...pairs(
    "acct account addr address amt amount avg average bal balance cat category cnt count ctry country",
  ),
  ...pairs(
    "cust customer dept department desc description dest destination dob birthdate dt date emp employee",
  ),
  ...pairs(
    "env environment img image inv invoice lang language lat latitude lng longitude loc location max maximum",
  ),
  ...pairs(
    "mgr manager min minimum msg message num number org organization pct percent pmt payment prod product",
  ),
  ...pairs(
    "pwd password qty quantity ref reference seq sequence src source tel phone txn transaction usr user",
  ),
]);

/** Lower-case words of a text: identifiers split at `_` and at a change of case, accents taken off. */
export function splitWords(text: string): string[] {
  return text.normalize("NFKD").replace(/\p{M}/gu, "")
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Words of a question that name something; all of them where none does. */
export function questionWords(question: string): string[] {
  const words = splitWords(question);
  const naming = words.filter((word) => !stopWords.has(word));
  return naming.length > 0 ? naming : words;
}

/** What a word is found by: itself, its stem, and what it stands for. */
export function wordForms(word: string): string[] {
  const long = abbreviations.get(word);
  return [...new Set([word, stemmer(word), ...(long === undefined ? [] : [long, stemmer(long)])])];
}

/** `short long short long …`. */
function pairs(text: string): [string, string][] {
  const words = text.split(" ");
  return words.flatMap((word, at): [string, string][] => at % 2 === 0 ? [[word, words[at + 1] ?? word]] : []);
}
