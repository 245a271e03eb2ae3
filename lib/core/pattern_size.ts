// How large a pattern becomes when it is compiled, told from its text: what is repeated is written out, so that a few hundred
// characters can stand for millions of steps. Pure.

/** An escape as a whole, a class, the beginning of a group, a counted repetition, or one character. */
const PART =
  /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|[^])|\[(?:\\[^]|[^\]\\])*\]|\((?:\?(?:<[^>]*>|[a-z-]*:))?|\{(\d+)(,?)(\d*)\}|[^]/gu;

/**
 * The characters and classes of the pattern, each as often as its repetitions ask for it, for a source that is a valid regex.
 * Alternatives of one character each may be compiled to one class, which is smaller than what is told here.
 */
export function patternSize(source: string): number {
  /** Of each open group, and of the whole: the size, and that of its last part. */
  const open = [{ size: 0, last: 0 }];
  for (const [part, least, comma, most = ""] of source.matchAll(PART)) {
    const group = open.at(-1) ?? { size: 0, last: 0 };
    if (part.startsWith("(")) open.push({ size: 0, last: 0 });
    else if (part === ")" && open.length > 1) {
      open.pop();
      add(open.at(-1), group.size);
    } else if (least !== undefined) {
      const times = most === "" ? Math.max(Number(least), comma === "" ? 0 : 1) : Number(most);
      group.size += group.last * (times - 1);
      group.last *= times;
    } else if (!"|*+?".includes(part)) add(group, 1);
  }
  return open.reduce((all, { size }) => all + size, 0);
}

function add(group: { size: number; last: number } | undefined, size: number): void {
  if (group === undefined) return;
  group.size += size;
  group.last = size;
}
