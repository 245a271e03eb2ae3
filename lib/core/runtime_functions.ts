// Functions of the runtime that are not public, where its public ones cannot do what is needed.

/** What has all functions of these names, as of Deno 2.9; null where this runtime has not. */
export function runtimeFunctions(names: readonly string[], runtime: object): object | null {
  const core = memberOf(memberOf(runtime, memberOf(runtime, "internal")), "core");
  const isWhole = names.every((name) => typeof memberOf(core, name) === "function");
  return isWhole && typeof core === "object" ? core : null;
}

function memberOf(object: unknown, name: unknown): unknown {
  const isKey = typeof name === "string" || typeof name === "symbol";
  return isKey && typeof object === "object" && object !== null ? Reflect.get(object, name) : undefined;
}
