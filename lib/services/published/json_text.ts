// Inputs of type `json` as the text that is bound. SQLite's own JSON functions take 1000 levels and no more.

export const MAX_DEPTH = 1000;

/** From a value of the body, or from the text of a query string. Null when it is no JSON or a text nested deeper. */
export function jsonText(value: unknown, form: "text" | "json"): string | null {
  // A body that is nested deeper has been refused as a whole.
  if (form === "json") return JSON.stringify(value);
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
