// Text of strangers as readers see it: what would be invisible, or would turn the text around it, is written out.

/** Letters of Arabic writing that join the one behind them, and those that join only the one before (Unicode's Joining_Type D and R). */
const JOIN_BOTH =
  "\\u0620\\u0626\\u0628\\u062A-\\u062E\\u0633-\\u063F\\u0641-\\u0647\\u0649\\u064A\\u066E\\u066F\\u0678-\\u0687\\u069A-\\u06BF\\u06C1\\u06C2\\u06CC\\u06CE\\u06D0\\u06D1\\u06FA-\\u06FC\\u06FF";
const JOIN_BEFORE =
  "\\u0622-\\u0625\\u0627\\u0629\\u062F-\\u0632\\u0648\\u0671-\\u0673\\u0675-\\u0677\\u0688-\\u0699\\u06C0\\u06C3-\\u06CB\\u06CD\\u06CF\\u06D2\\u06D3\\u06D5\\u06EE\\u06EF";
/** The sign of Indic writing, from Devanagari to Sinhala, that takes the vowel from a letter. */
const VIRAMA = "\\u094D\\u09CD\\u0A4D\\u0ACD\\u0B4D\\u0BCD\\u0C4D\\u0CCD\\u0D4D\\u0DCA";
/**
 * What is part of correct writing, and is seen by what it does: emoji that fonts draw as one picture from parts, and joiners
 * where names of hosts may have them (RFC 5892, appendices A.1 and A.2): between letters that would join without it, and
 * behind a virama.
 */
const WRITTEN = [
  "\\p{RGI_Emoji_ZWJ_Sequence}",
  "\\p{RGI_Emoji_Tag_Sequence}",
  `\\u200C(?<=[${JOIN_BOTH}]\\p{Mn}*\\u200C)(?=\\p{Mn}*[${JOIN_BOTH}${JOIN_BEFORE}])`,
  `[\\u200C\\u200D](?<=[${VIRAMA}].)`,
].join("|");
/**
 * Control characters, marks that change the direction of writing, and characters without a width, or with one and without
 * ink: fillers of Hangul and Khmer, and the empty sign of Braille. In front stands what is no such thing where it is.
 */
const UNSEEN = new RegExp(
  `(${WRITTEN})|[\\p{Cc}\\p{Cf}\\u2028\\u2029\\u034F\\u115F\\u1160\\u17B4\\u17B5\\u2800\\u3164\\uFFA0]`,
  "gv",
);
/** Spaces that look like the common one. The one of CJK writing is wider. */
const LIKE_SPACE = /[\u00A0\u1680\u2000-\u200A\u202F\u205F]/g;
/** Those that everybody knows by a sign. */
const SIGNS: Readonly<Record<string, string>> = { "\n": "↵", "\t": "⇥", "\r": "␍" };

/** The text with a sign or the number of each such character in its place. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (found, written?: string) => written ?? SIGNS[found] ?? numberOf(found));
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
