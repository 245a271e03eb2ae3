// References of a table to itself: "reports to Ada" are those below her, "Ada's manager" is the one above.
import { singular } from "../../singular.ts";
import type { ForeignKeyFacts } from "../../schema/schema_facts.ts";
import { type ColumnRef, labelOf } from "./column_kinds.ts";
import type { Mention } from "./link_names.ts";
import type { Reading } from "./reading.ts";
import { severalWays } from "./references.ts";

/** How a question goes along such a reference. */
export interface OwnReference {
  /** Where the words begin that say it. */
  readonly at: number;
  readonly by: readonly string[];
  /** Whether the row is asked for that the named one refers to, and not those that refer to it. */
  readonly up: boolean;
}

/** The reference to its own table that a mention names; null for none. */
export function ownKey({ columns }: Mention): (ForeignKeyFacts & { readonly of: ColumnRef["table"] }) | null {
  const [key, ...more] = columns.flatMap(({ table, column }) =>
    table.foreignKeys.filter((one) => one.toTable === table.name && one.columns.includes(column.name))
      .map((one) => ({ ...one, of: table }))
  );
  return key && more.length === 0 ? key : null;
}

/** Beside a value of the subject's own table. Where the direction is not clear, the question is refused. */
export function takeOwnReference(
  reading: Reading,
  value: Mention,
  { table, column }: ColumnRef,
): OwnReference | null {
  if (table !== reading.subject || !labelOf(table).includes(column)) return null;
  const keys = table.foreignKeys.filter(({ toTable }) => toTable === table.name);
  const named = reading.openMentions().filter((one) => ownKey(one)?.of === table);
  const [label] = named;
  if (label) {
    const key = ownKey(label);
    const up = isUp(reading, label, value);
    if (key === null || named.length > 1 || up === null) {
      reading.refuse(`say "${reading.said(label.at, label.end)} is …", so that it is clear who is asked for`);
      return null;
    }
    reading.spend(label);
    return { at: Math.min(label.at, value.at), by: key.columns, up };
  }
  const noun = reading.word(reading.subjectAt);
  if (keys.length > 0 && reading.subjectAt >= 0 && singular(noun) !== noun) {
    reading.refuse(...severalWays(table, table));
  }
  return null;
}

/** Null where it may be either. */
function isUp(reading: Reading, label: Mention, value: Mention): boolean | null {
  const word = reading.word(label.end - 1);
  const verb = /(s|ed)$/.test(word) && !/ss$/.test(word);
  if (label.at === value.end) {
    const gap = (reading.tokens[label.at]?.start ?? 0) - (reading.tokens[value.end - 1]?.end ?? 0);
    // "Ada's manager", "people Ada mentors"
    return gap > 1 ? true : verb ? false : null;
  }
  const between = reading.tokens.slice(label.end, value.at).map(({ lower }) => lower);
  if (label.end > value.at || between.length > 2) return null;
  if (word === "by" || between.some((one) => /^(by|to|under)$/.test(one))) return false;
  if (between.includes("of")) return true;
  if (verb && between.length === 0 && reading.word(0) === "who" && label.at === 1) return true;
  const owned = /^(with|whose|has|have|having)$/.test(reading.word(label.at - 1));
  return owned && between.every((one) => /^(is|a|the)$/.test(one)) ? false : null;
}
