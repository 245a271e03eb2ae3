// Inputs of type `json` as the text that is bound. SQLite's own JSON functions take 1000 levels and no more.

const MAX_DEPTH = 1000;

/** From a value of the body, or from the text of a query string. Null when it is no JSON or nested deeper. */
export function jsonText(value: unknown, form: "text" | "json"): string | null {
  if (form === "json") return shallow(value) ? JSON.stringify(value) : null;
  if (typeof value !== "string") return null;
  try {
    return shallow(JSON.parse(value)) ? value : null;
  } catch {
    return null;
  }
}

/** Level by level, so that no depth can exhaust the stack. */
function shallow(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    level = level.flatMap((one) =>
      typeof one === "object" && one !== null ? Object.values(one).filter(isNested) : []
    );
    if (level.length === 0) return true;
  }
  return false;
}

function isNested(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
