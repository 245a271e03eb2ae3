// What a declared type means to the engine (sqlite.org/datatype3.html, section 3.1).

export type Affinity = "INTEGER" | "TEXT" | "BLOB" | "REAL" | "NUMERIC";

/** The rules in their order: the first word found decides. No type at all is BLOB. */
const rules: readonly (readonly [pattern: RegExp, affinity: Affinity])[] = [
  [/INT/i, "INTEGER"],
  [/CHAR|CLOB|TEXT/i, "TEXT"],
  [/BLOB|^$/i, "BLOB"],
  [/REAL|FLOA|DOUB/i, "REAL"],
];

export function affinityOf(declaredType: string): Affinity {
  return rules.find(([pattern]) => pattern.test(declaredType))?.[1] ?? "NUMERIC";
}
