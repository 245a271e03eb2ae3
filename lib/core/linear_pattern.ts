// Patterns of endpoint inputs, matched by an automaton (RE2): the time grows with the text only, whatever the pattern.
import { RE2JS } from "re2js";
import { patternSize } from "./pattern_size.ts";

/** Why a pattern is refused; ends the sentence "… the pattern". */
export type LinearPattern =
  | { readonly ok: true; readonly test: (text: string) => boolean }
  | { readonly ok: false; readonly reason: string };

/** Instructions of a compiled pattern: each costs at most one step for each character. */
const MAX_PROGRAM_SIZE = 5_000;
/** Characters, with all repetitions, of a pattern that is compiled at all: a million of them take minutes. Some become one instruction. */
const MAX_WRITTEN_OUT = 4 * MAX_PROGRAM_SIZE;
const TOO_LARGE = "Write a smaller regex; this one is too large";
/** Instructions of all compiled patterns in the cache, some 600 bytes each. */
const MAX_CACHED_SIZE = 100_000;

/** What JavaScript takes for white space, and what is left; each ends with a range, so that a `-` behind it is none. */
const SPACE =
  "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}-\\x{feff}";
const NO_SPACE =
  "\\x00-\\x08\\x0e-\\x1f!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}" +
  "\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";
/** What `.` means there. */
const NO_LINE_END = "[^\\n\\r\\x{2028}\\x{2029}]";

/** Letters that mean the same after a backslash in both dialects; `k` and digits refer back, which needs backtracking. */
const OTHER_ESCAPE =
  /\\(?:[^\\A-Za-z0-9]|\\|[dDwWsSbBfnrtvpP]|c[A-Za-z]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{|0(?!\d))/g;

/** By source. The control plane reads its records again and again, also for strangers, and brings the same patterns. */
const cached = new Map<string, LinearPattern>();
let cachedSize = 0;

/**
 * Compiles a regex source without slashes, as JavaScript writes it. `test` is true when the pattern matches anywhere
 * in the text. Compiled patterns are cached.
 */
export function compilePattern(source: string): LinearPattern {
  return cached.get(source) ?? compile(source);
}

function compile(source: string): LinearPattern {
  if (!isJavaScript(source)) return refused("Write a regex that is valid; this one is not");
  if (source.replaceAll(OTHER_ESCAPE, "").includes("\\")) {
    return refused("Write a regex without back references and unknown escapes");
  }
  if (/\(\?(?:=|!|<=|<!)/.test(source)) return refused("Write a regex without look-ahead and look-behind");
  if (source.includes("[[:")) return refused("Write a regex without POSIX classes");
  if (patternSize(source) > MAX_WRITTEN_OUT) return refused(TOO_LARGE);
  try {
    const compiled = RE2JS.compile(asJavaScript(RE2JS.translateRegExp(source)));
    const size = compiled.programSize();
    if (size > MAX_PROGRAM_SIZE) return refused(TOO_LARGE);
    return keep(source, { ok: true, test: (text) => compiled.test(text) }, size);
  } catch {
    return refused("Write a regex that is valid and needs no backtracking; this one cannot be compiled");
  }
}

/** Writes out what the automaton's dialect knows in ASCII only, so that a pattern means here what it means in a page. */
function asJavaScript(translated: string): string {
  const dotTakesAll = /\(\?[a-z]*s/.test(translated);
  let inClass = false;
  return translated.replace(/\\.|[[\].]/gsu, (part) => {
    const wasInClass = inClass;
    if (part === "[") inClass = true;
    if (part === "]") inClass = false;
    if (part === "\\s") return wasInClass ? SPACE : `[${SPACE}]`;
    if (part === "\\S") return wasInClass ? NO_SPACE : `[${NO_SPACE}]`;
    return part === "." && !wasInClass && !dotTakesAll ? NO_LINE_END : part;
  });
}

/** `size` counts instructions. */
function keep(source: string, pattern: LinearPattern, size: number): LinearPattern {
  if (cachedSize + size > MAX_CACHED_SIZE) {
    cached.clear();
    cachedSize = 0;
  }
  cachedSize += size;
  cached.set(source, pattern);
  return pattern;
}

function isJavaScript(source: string): boolean {
  for (const flags of ["u", ""]) {
    try {
      new RegExp(source, flags);
      return true;
    } catch {
      // The older dialect takes more escapes than the newer one.
    }
  }
  return false;
}

function refused(reason: string): LinearPattern {
  return { ok: false, reason };
}
