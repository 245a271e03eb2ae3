// Text of strangers as readers see it: what would be invisible, or would turn the text around it, is written out.

/** Control characters, marks that change the direction of writing, and characters without a width. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;
/** Those that everybody knows by a sign. */
const SIGNS: Readonly<Record<string, string>> = { "\n": "↵", "\t": "⇥", "\r": "␍" };

/** The text with a sign or the number of each such character in its place. */
export function visibleText(text: string): string {
  return text.replace(
    UNSEEN,
    (character) =>
      SIGNS[character] ??
        `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

/** The same for a value, whose first and last spaces are part of it. */
export function visibleValue(text: string): string {
  return visibleText(text).replace(/^ +| +$/g, (spaces) => "␣".repeat(spaces.length));
}

/** The same for text of several lines, whose ends stay. */
export function visibleLines(text: string): string {
  return text.split("\n").map((line) => visibleText(line.replaceAll("\t", "  "))).join("\n");
}
