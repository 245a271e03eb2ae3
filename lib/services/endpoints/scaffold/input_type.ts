// The type of the input for a column (specification, Endpoint management; contract 7).
import type { FieldSpec } from "../../../core/endpoint_spec.ts";

/** The first that matches decides; everything else is text. */
const rules: readonly (readonly [pattern: RegExp, type: FieldSpec["type"]])[] = [
  [/^BOOL(EAN)?\b/i, "boolean"],
  [/^JSONB?\b/i, "json"],
  [/CHAR|CLOB|TEXT/i, "text"],
  [/INT/i, "integer"],
  [/^(REAL|NUMERIC)\b/i, "number"],
];

export function inputType(declaredType: string): FieldSpec["type"] {
  return rules.find(([pattern]) => pattern.test(declaredType.trim()))?.[1] ?? "text";
}
