// Globs of rules: which names of tables they mean. Pure.

/**
 * Whether the whole name matches the glob: `*` is any text, `?` one character, in any case of letters. Takes at
 * most the product of both lengths in steps, whatever stars there are.
 */
export function matchesGlob(glob: string, name: string): boolean {
  const pattern = characters(glob);
  const text = characters(name);
  let at = 0;
  let inName = 0;
  /** Where matching continues after a mismatch: behind the last star, one character later than before. */
  let star = -1;
  let resumeAt = 0;
  while (inName < text.length) {
    if (pattern[at] === "*") {
      star = at++;
      resumeAt = inName;
    } else if (at < pattern.length && (pattern[at] === "?" || pattern[at] === text[inName])) {
      at++;
      inName++;
    } else if (star >= 0) {
      at = star + 1;
      inName = ++resumeAt;
    } else return false;
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}

function characters(text: string): string[] {
  return [...text].map((character) => character.toLowerCase());
}
