// Which whole numbers an input takes: those that every reader of JSON holds exactly, or larger ones too.
import type { FieldSpec } from "../../core/endpoint_spec.ts";

/** Whether the bounds of an integer keep it within ±(2^53 − 1). */
export function isSafeRange({ min = -Infinity, max = Infinity }: Pick<FieldSpec, "min" | "max">): boolean {
  return min >= Number.MIN_SAFE_INTEGER && max <= Number.MAX_SAFE_INTEGER;
}
