// How a suggestion of the doctor is followed in the console: a statement or a batch in the editor, a description where it
// stands, and any other call by whoever copies it.

/** The fix of a finding. */
export type FindingFix =
  | { readonly kind: "sql"; readonly sql: string }
  | { readonly kind: "describe" }
  /** A change of a specification, which its page has a form for. */
  | { readonly kind: "endpoint"; readonly slug: string }
  | { readonly kind: "call" };

/** Reads a suggestion: one SQL statement, or a call as `METHOD path body`. */
export function fixOf(suggestion: string): FindingFix {
  const call = /^(GET|POST|PUT|PATCH|DELETE) (\/\S+)(?: ([^]+))?$/.exec(suggestion);
  if (call === null) return { kind: "sql", sql: suggestion };
  const [, method, path = "", body = ""] = call;
  if (method === "PUT" && path.endsWith("/describe")) return { kind: "describe" };
  const endpoint = method === "PATCH" ? /\/endpoints\/([a-z][a-z0-9-]*)$/.exec(path)?.[1] : undefined;
  if (endpoint !== undefined) return { kind: "endpoint", slug: endpoint };
  if (method !== "POST" || !path.endsWith("/batch")) return { kind: "call" };
  const statements: unknown = Reflect.get(Object(JSON.parse(body)), "statements");
  const texts = Array.isArray(statements)
    ? statements.map((one: unknown) => Reflect.get(Object(one), "sql")).filter((sql) =>
      typeof sql === "string"
    )
    : [];
  return texts.length === 0 ? { kind: "call" } : { kind: "sql", sql: texts.join(";\n") };
}
