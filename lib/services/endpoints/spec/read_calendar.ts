// Dates and moments of callers, in the one form in which a database stores and compares them.

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
/** RFC 3339, with an offset: a moment without one is another in every place. */
const MOMENT =
  /^(\d{4}-\d{2}-\d{2})[Tt ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** `2026-11-22`, where there is such a day; null otherwise. */
export function readDate(text: string): string | null {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined) return null;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.toISOString().slice(0, 10) === text ? text : null;
}

/**
 * `2026-11-22T16:40:00+01:00` → `2026-11-22T15:40:00.000Z`: texts of one form sort like the moments, and SQLite's
 * functions read them. Null for what is no moment, or none of the years 0000 to 9999 in UTC.
 */
export function readMoment(text: string): string | null {
  const [, date] = MOMENT.exec(text) ?? [];
  if (date === undefined || readDate(date) === null) return null;
  const moment = new Date(text.toUpperCase().replace(" ", "T"));
  const iso = Number.isNaN(moment.getTime()) ? "" : moment.toISOString();
  return iso.length === 24 ? iso : null;
}
