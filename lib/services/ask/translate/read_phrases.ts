// Reads phrases with a meaning of their own: "out of stock", "overdue", "upcoming".
import { dayOf, isDate, isNumber } from "./column_kinds.ts";
import type { Reading } from "./reading.ts";

/** Adds the conditions that they mean. */
export function readPhrases(reading: Reading): void {
  readStock(reading);
  readTimes(reading);
}

/** "out of stock" and "in stock". */
function readStock(reading: Reading): void {
  for (const mention of reading.openMentions()) {
    const out = reading.phrase(mention.at - 2, "out of") > 0;
    const inside = reading.open(mention.at - 1) === "in";
    if ((!out && !inside) || !/^(stock|inventory)$/.test(reading.word(mention.at))) continue;
    const ref = reading.column(mention, ({ table, column }) => isNumber(table, column));
    if (ref === null) continue;
    const at = reading.negation({ ...mention, at: mention.at - (out ? 2 : 1) });
    reading.take(at < 0 ? mention.at - (out ? 2 : 1) : at, mention.at);
    reading.spend(mention);
    reading.conditions.push({ kind: "compare", ref, operator: out === at < 0 ? "=" : ">", value: 0 });
  }
}

/** "upcoming", "overdue", "next": moments that are compared with now. */
function readTimes(reading: Reading): void {
  const { subject } = reading;
  const now = new Date(reading.nowMs).toISOString().slice(0, 19).replace("T", " ");
  for (let at = 0; at < reading.tokens.length && subject; at++) {
    const word = reading.open(at);
    if (/^(upcoming|future)$/.test(word)) {
      const ref = dayOf(subject);
      if (ref === null) continue;
      reading.take(at, at + 1);
      reading.conditions.push({ kind: "days", ref, from: now, before: null });
    }
    if (word !== "overdue") continue;
    const due = subject.columns.filter((column) => isDate(column) && /due|deadline/i.test(column.name));
    const done = subject.columns.filter((column) =>
      isDate(column) && !column.notNull && !due.includes(column)
    );
    const [[by], [end]] = [due, done];
    if (!by || !end || due.length + done.length > 2) continue;
    reading.take(at, at + 1);
    reading.conditions.push({ kind: "null", ref: { table: subject, column: end }, not: false });
    reading.conditions.push({
      kind: "days",
      ref: { table: subject, column: by },
      from: null,
      before: now.slice(0, 10),
    });
  }
}
