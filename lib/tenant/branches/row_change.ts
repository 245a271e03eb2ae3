// A row that differs between the two sides.
import type { EngineValue } from "../../engine/result_json.ts";
import type { Row } from "./work.ts";

/** How a row differs. */
export type RowChange =
  | { readonly kind: "added"; readonly before: null; readonly after: Row }
  | { readonly kind: "removed"; readonly before: Row; readonly after: null }
  | { readonly kind: "changed"; readonly before: Row; readonly after: Row };

/** Makes the change of a row that only one side has. */
export function alone(row: Row, added: boolean): RowChange {
  return added ? { kind: "added", before: null, after: row } : { kind: "removed", before: row, after: null };
}

/** Whether two values are the same. */
export function sameValue(a: EngineValue | undefined, b: EngineValue | undefined): boolean {
  if (a === b) return true;
  if (!(a instanceof Uint8Array) || !(b instanceof Uint8Array) || a.length !== b.length) return false;
  // A loop, because a callback for each byte would take most of a comparison's time.
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

/** Whether two rows have the same values. */
export function sameRow(a: Row, b: Row): boolean {
  for (let at = 0; at < a.length; at++) if (!sameValue(a[at], b[at])) return false;
  return true;
}
