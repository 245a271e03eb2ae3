// The order in which rows are asked for: "sorted by price descending", "largest first", "from best to worst".
import { superlatives } from "./lexicon.ts";
import type { Ordering } from "./plan.ts";
import type { Reading } from "./reading.ts";

/** The order, or null when the question asks for none. */
export function readSorted(reading: Reading): Ordering | null {
  let descending: boolean | null = null;
  let asked = false;
  for (let at = 0; at < reading.tokens.length; at++) {
    const word = reading.word(at);
    const kind = superlatives.get(word) ?? (word === "most" ? superlatives.get("highest") : undefined);
    if (kind && reading.word(at + 1) === "first") {
      [descending, asked] = [kind.descending, true];
      reading.take(at, at + 2);
    } else if (kind && reading.word(at + 1) === "to" && superlatives.has(reading.word(at + 2))) {
      [descending, asked] = [kind.descending, true];
      reading.take(at, at + 3);
    } else if (/^(descending|desc|ascending|asc|alphabetically|alphabetical)$/.test(word)) {
      [descending, asked] = [word.startsWith("desc"), true];
      reading.take(at, at + 1);
      if (reading.word(at + 1) === "order") reading.take(at + 1, at + 2);
    }
  }
  const by = reading.tokens.findIndex((_, at) =>
    /^(sorted|ordered|ranked|order|sort)$/.test(reading.word(at)) && reading.word(at + 1) === "by"
  );
  const mention = by < 0 ? null : reading.mentionFrom(by + 2);
  const ref = mention && reading.columnOf(mention);
  if (mention && ref) reading.spend(mention);
  if (!asked && !ref) return null;
  return {
    by: ref && { kind: "column", ref },
    descending: descending ?? false,
    limit: null,
    entity: null,
    bare: false,
  };
}
