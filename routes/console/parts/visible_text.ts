// Text of strangers as readers see it: what would be invisible, or would turn the text around it, is written out.

/**
 * Control characters, marks that change the direction of writing, and characters without a width, or with one and without
 * ink: fillers of Hangul and Khmer, and the empty sign of Braille. The emoji in front are those that fonts draw as one
 * picture: what joins their parts is seen by that, and anywhere else it is not.
 */
const UNSEEN =
  /(\p{RGI_Emoji_ZWJ_Sequence}|\p{RGI_Emoji_Tag_Sequence})|[\p{Cc}\p{Cf}\u2028\u2029\u034F\u115F\u1160\u17B4\u17B5\u2800\u3164\uFFA0]/gv;
/** Spaces that look like the common one. The one of CJK writing is wider. */
const LIKE_SPACE = /[\u00A0\u1680\u2000-\u200A\u202F\u205F]/g;
/** Those that everybody knows by a sign. */
const SIGNS: Readonly<Record<string, string>> = { "\n": "↵", "\t": "⇥", "\r": "␍" };

/** The text with a sign or the number of each such character in its place. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (found, emoji?: string) => emoji ?? SIGNS[found] ?? numberOf(found));
}

/** The same for a value, whose first and last spaces are part of it, and in which one kind of space is not another. */
export function visibleValue(text: string): string {
  return visibleText(text).replace(LIKE_SPACE, numberOf).replace(
    /^ +| +$/g,
    (spaces) => "␣".repeat(spaces.length),
  );
}

function numberOf(character: string): string {
  return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** The same for text of several lines, whose ends stay. */
export function visibleLines(text: string): string {
  return text.split("\n").map((line) => visibleText(line.replaceAll("\t", "  "))).join("\n");
}
