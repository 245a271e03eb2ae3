// Globs of rules: which names of tables they mean. Pure.

/**
 * Characters of a name that is looked at. Nobody calls a table so, and of a longer one each write would hold up the service
 * for every rule. It is longer than any glob.
 */
const MAX_NAME = 2000;

/**
 * Whether the whole name matches the glob: `*` is any text, `?` one character, in any case of letters. Takes at
 * most the product of both lengths in steps, whatever stars there are. A glob with a star means every name that is too long
 * to be looked at, so that no rule is got around by it.
 */
export function matchesGlob(glob: string, name: string): boolean {
  if (name.length > MAX_NAME) return glob.includes("*");
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
