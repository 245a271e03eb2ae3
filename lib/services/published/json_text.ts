// Inputs of type `json` as the text that is bound. SQLite's own JSON functions take 1000 levels and no more.

export const MAX_DEPTH = 1000;

/**
 * From a value of the body, or from the text of a query string. Null when it is no JSON, a text nested deeper, or a
 * value with a number that no double holds: its text would say null.
 */
export function jsonText(value: unknown, form: "text" | "json"): string | null {
  // A body that is nested deeper has been refused as a whole.
  if (form === "json") return numbersAreFinite(value) ? JSON.stringify(value) : null;
  if (typeof value !== "string") return null;
  try {
    return isShallow(JSON.parse(value), MAX_DEPTH) ? value : null;
  } catch {
    return null;
  }
}

/** Looks no deeper than `levels`, so that no depth can exhaust the stack. */
export function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  const inside: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return inside.every((one) => isShallow(one, levels - 1));
}

/** The parser makes an infinity of a number that is beyond them. */
function numbersAreFinite(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value !== "object" || value === null || Object.values(value).every(numbersAreFinite);
}
