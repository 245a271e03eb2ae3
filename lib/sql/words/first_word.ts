// The word that a statement begins with. Pure.

/**
 * What may stand before it, one at a time: a single pattern for any number of comments would try all ways to divide them
 * where no such word follows, twice as many for each comment.
 */
const BEFORE = /[\s;\uFEFF]+|--[^\n]*|\/\*[^]*?(?:\*\/|$)/y;
const WORD = /[A-Za-z_\u0080-\uFFFF][\w$\u0080-\uFFFF]*/y;

/** In capital letters, behind white space, semicolons and comments; empty where something else stands there. */
export function firstWord(sql: string): string {
  let at = 0;
  for (BEFORE.lastIndex = 0; BEFORE.test(sql);) at = BEFORE.lastIndex;
  WORD.lastIndex = at;
  return WORD.exec(sql)?.[0].toUpperCase() ?? "";
}
