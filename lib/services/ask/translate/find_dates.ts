// Finds the days that a question names, in UTC: "in January 2026", "since 1 March", "last 30 days", "before 2015".
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../core/clock.ts";
import type { Token } from "./tokens.ts";

/** Days as `YYYY-MM-DD`, moments as `YYYY-MM-DD HH:MM:SS`: `from` is included, `before` is not. Null: no bound. */
export interface DateSpan {
  /** The tokens that it was read from, with the word in front that gives the direction. */
  readonly at: number;
  readonly end: number;
  readonly from: string | null;
  readonly before: string | null;
}

interface Period {
  readonly end: number;
  readonly from: number;
  readonly before: number;
  /** Needs no word in front: "today", "last month". */
  readonly plain: boolean;
}

const months = "january february march april may june july august september october november december".split(
  " ",
);

/** All spans of days in a question. */
export function findDates(tokens: readonly Token[], nowMs: number): DateSpan[] {
  const spans: DateSpan[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const span = readSpan(tokens, at, nowMs);
    if (span === null) continue;
    spans.push(span);
    at = span.end - 1;
  }
  return spans;
}

function readSpan(tokens: readonly Token[], at: number, nowMs: number): DateSpan | null {
  const word = tokens[at]?.lower ?? "";
  const period = readPeriod(tokens, at + (tokens[at + 1]?.lower === "the" ? 2 : 1), nowMs);
  if (period !== null) {
    const joint = /^(between|from)$/.test(word) &&
      /^(and|to|until|till|through)$/.test(tokens[period.end]?.lower ?? "");
    const second = joint ? readPeriod(tokens, period.end + 1, nowMs) : null;
    if (second) return span(at, second.end, period.from, second.before);
    if (/^(before|until|till)$/.test(word)) {
      return span(at, period.end, null, word === "before" ? period.from : period.before);
    }
    if (word === "after") return span(at, period.end, period.before, null);
    const onwards = /^(on|onwards?)$/.test(tokens[period.end]?.lower ?? "");
    if (word === "from" && onwards) return span(at, period.end + 1, period.from, null);
    if (word === "since") return span(at, period.end, period.from, null);
    if (/^(in|on|during|for|of|from|within|over)$/.test(word)) {
      return span(at, period.end, period.from, period.before);
    }
  }
  const plain = readPeriod(tokens, at, nowMs);
  return plain?.plain ? span(at, plain.end, plain.from, plain.before) : null;
}

function span(at: number, end: number, from: number | null, before: number | null): DateSpan {
  return {
    at,
    end,
    from: from === null ? null : isoDay(from),
    before: before === null ? null : isoDay(before),
  };
}

function readPeriod(tokens: readonly Token[], at: number, nowMs: number): Period | null {
  return readDay(tokens, at, nowMs) ?? readMonth(tokens, at, nowMs) ?? readYear(tokens, at) ??
    readRelative(tokens, at, nowMs);
}

/** `2026-03-01`, `1 March 2026`, `March 1st, 2026`. */
function readDay(tokens: readonly Token[], at: number, nowMs: number): Period | null {
  const [first, second, third] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  const iso = /^(\d{4})-(\d{2})-(\d{2})$/.exec(first?.lower ?? "");
  if (iso) return dayOf(Number(iso[1]), Number(iso[2]) - 1, Number(iso[3]), { end: at + 1, plain: true });
  const monthFirst = monthOf(first);
  const dayAt = ordinal(monthFirst === null ? first : second);
  const skip = monthFirst === null && second?.lower === "of" ? 1 : 0;
  const month = monthFirst ?? monthOf(skip ? third : second);
  if (dayAt === null || month === null) return null;
  const year = yearOf(tokens[at + 2 + skip]);
  const end = at + (year === null ? 2 : 3) + skip;
  return dayOf(year ?? new Date(nowMs).getUTCFullYear(), month, dayAt, { end, plain: false });
}

function readMonth(tokens: readonly Token[], at: number, nowMs: number): Period | null {
  const digits = /^(\d{4})-(\d{2})$/.exec(tokens[at]?.lower ?? "");
  if (digits) return wholeMonth(Number(digits[1]), Number(digits[2]) - 1, { end: at + 1, plain: true });
  const named = monthOf(tokens[at]);
  if (named === null) return null;
  const of = tokens[at + 1]?.lower === "of" ? 1 : 0;
  const year = yearOf(tokens[at + 1 + of]);
  const end = year === null ? at + 1 : at + 2 + of;
  // "may" and "march" are verbs too.
  return wholeMonth(year ?? new Date(nowMs).getUTCFullYear(), named, { end, plain: year !== null });
}

function readYear(tokens: readonly Token[], at: number): Period | null {
  const worded = tokens[at]?.lower === "year" ? 1 : 0;
  const year = yearOf(tokens[at + worded]);
  if (year === null) return null;
  return { end: at + worded + 1, from: Date.UTC(year, 0), before: Date.UTC(year + 1, 0), plain: worded > 0 };
}

/** `today`, `last month`, `past 30 days`, `next 2 weeks`. */
function readRelative(tokens: readonly Token[], at: number, nowMs: number): Period | null {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const word = tokens[at]?.lower ?? "";
  const near = new Map([["today", 0], ["yesterday", -1], ["tomorrow", 1]]).get(word);
  if (near !== undefined) {
    const from = today + near * DAY_MS;
    return { end: at + 1, from, before: from + DAY_MS, plain: true };
  }
  if (!/^(this|current|last|past|previous|next|coming)$/.test(word)) return null;
  const direction = /^(this|current)$/.test(word) ? 0 : /^(next|coming)$/.test(word) ? 1 : -1;
  const count = tokens[at + 1]?.number ?? null;
  const hours = count !== null && /^(hour|minute)s?$/.exec(tokens[at + 2]?.lower ?? "")?.[1];
  if (hours && direction < 0) return readHours(nowMs, count, hours, at + 3);
  const unit = /^(day|week|month|quarter|year)s?$/.exec(tokens[at + (count === null ? 1 : 2)]?.lower ?? "")
    ?.[1];
  if (unit === undefined) return null;
  if (count === null) {
    const start = startOf(unit, today);
    const from = shift(unit, start, direction);
    return { end: at + 2, from, before: shift(unit, from, 1), plain: true };
  }
  if (!Number.isInteger(count) || count < 1 || count > 1000) return null;
  return direction > 0
    ? { end: at + 3, from: today, before: shift(unit, today, count) + DAY_MS, plain: true }
    : { end: at + 3, from: shift(unit, today, -count), before: today + DAY_MS, plain: true };
}

/** "the last 24 hours" end now. */
function readHours(nowMs: number, count: number, unit: string, end: number): Period | null {
  if (count < 1 || count > 10_000) return null;
  return {
    end,
    from: nowMs - count * (unit === "hour" ? HOUR_MS : MINUTE_MS),
    before: nowMs + 1000,
    plain: true,
  };
}

function startOf(unit: string, dayMs: number): number {
  const date = new Date(dayMs);
  const year = date.getUTCFullYear();
  if (unit === "year") return Date.UTC(year, 0);
  if (unit === "month") return Date.UTC(year, date.getUTCMonth());
  if (unit === "quarter") return Date.UTC(year, Math.floor(date.getUTCMonth() / 3) * 3);
  return unit === "week" ? dayMs - ((date.getUTCDay() + 6) % 7) * DAY_MS : dayMs;
}

function shift(unit: string, dayMs: number, count: number): number {
  const date = new Date(dayMs);
  if (unit === "day") return dayMs + count * DAY_MS;
  if (unit === "week") return dayMs + count * 7 * DAY_MS;
  const by = unit === "month" ? count : unit === "quarter" ? count * 3 : count * 12;
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + by, date.getUTCDate());
}

type Written = Pick<Period, "end" | "plain">;

function dayOf(year: number, monthAt: number, dayAt: number, written: Written): Period | null {
  const from = Date.UTC(year, monthAt, dayAt);
  return Number.isNaN(from) ? null : { ...written, from, before: from + DAY_MS };
}

function wholeMonth(year: number, monthAt: number, written: Written): Period {
  return { ...written, from: Date.UTC(year, monthAt), before: Date.UTC(year, monthAt + 1) };
}

function monthOf(token: Token | undefined): number | null {
  const word = token?.lower ?? "";
  const at = months.findIndex((name) => name === word || (word.length === 3 && name.startsWith(word)));
  return at < 0 ? null : at;
}

function yearOf(token: Token | undefined): number | null {
  return /^(1[5-9]|20|21)\d{2}$/.test(token?.lower ?? "") ? Number(token?.lower) : null;
}

function ordinal(token: Token | undefined): number | null {
  const digits = /^(\d{1,2})(st|nd|rd|th)?$/.exec(token?.lower ?? "")?.[1];
  return digits !== undefined && Number(digits) >= 1 && Number(digits) <= 31 ? Number(digits) : null;
}

function isoDay(ms: number): string {
  const text = new Date(ms).toISOString();
  return ms % DAY_MS === 0 ? text.slice(0, 10) : text.slice(0, 19).replace("T", " ");
}
