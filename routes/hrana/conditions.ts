// The conditions of a batch's steps. A recursive schema would follow any depth, so they are read by hand.
import { MAX_CONDITION_DEPTH } from "../../lib/core/limits_hrana.ts";
import type { WireCondition } from "../../lib/services/hrana/hrana_types.ts";

/** The condition of the step with the number `step`; undefined: it is none, or names a step that is not before it. */
export function readCondition(value: unknown, step: number, depth = 0): WireCondition | null | undefined {
  if (value === null) return null;
  if (typeof value !== "object" || depth > MAX_CONDITION_DEPTH) return undefined;
  const inner = (one: unknown) => readCondition(one, step, depth + 1) ?? undefined;
  const type: unknown = Reflect.get(value, "type");
  switch (type) {
    case "ok":
    case "error": {
      const named: unknown = Reflect.get(value, "step");
      const isEarlier = typeof named === "number" && Number.isInteger(named) && named >= 0 && named < step;
      return isEarlier ? { type, step: named } : undefined;
    }
    case "not": {
      const cond = inner(Reflect.get(value, "cond"));
      return cond && { type, cond };
    }
    case "and":
    case "or": {
      const all: unknown = Reflect.get(value, "conds");
      const conds = Array.isArray(all) ? all.map(inner) : [undefined];
      return conds.includes(undefined) ? undefined : { type, conds: conds.flatMap((one) => one ?? []) };
    }
    case "is_autocommit":
      return { type };
    default:
      return undefined;
  }
}
