// Arithmetic with the clock that runs and means nothing: days are texts here. Pure.

/** Characters of a statement that is looked at. */
const MAX_LENGTH = 20_000;
const ARITHMETIC = /\bcurrent_(date|time|timestamp)\s*[-+]\s*(?:\d|[?:@$])/i;

/** A warning where a statement adds to CURRENT_DATE or takes from it, as other dialects do; empty otherwise. */
export function clockWarnings(sql: string): readonly string[] {
  if (sql.length > MAX_LENGTH || !ARITHMETIC.test(sql)) return [];
  const [, clock = ""] = ARITHMETIC.exec(sql.replace(/'(?:[^']|'')*'/g, "''")) ?? [];
  if (clock === "") return [];
  const written = clock.toLowerCase() === "date" ? "date('now', '-7 days')" : "datetime('now', '-7 days')";
  return [
    `CURRENT_${clock.toUpperCase()} is text, of which arithmetic takes the year alone; write ${written} for a week ago`,
  ];
}
