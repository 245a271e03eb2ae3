// Functions of the runtime that are not public: they name and close what it holds open, where its public ones cannot.

/** The functions, as of 2.9. A resource is an open file, connection, socket or server, known by its number. */
export interface ResourceFunctions {
  /** Names of all resources by their numbers. */
  resources(): Readonly<Record<string, string>>;
  /** Errors: `BadResource` for one that is closed. */
  close(resource: number): void;
  /** A new resource that does nothing. */
  createCancelHandle(): number;
}

const NAMES = ["resources", "close", "createCancelHandle"] as const;

/** Null where the runtime does not have them all. */
export function findResourceFunctions(runtime: object = Deno): ResourceFunctions | null {
  const core = memberOf(memberOf(runtime, memberOf(runtime, "internal")), "core");
  return NAMES.every((name) => typeof memberOf(core, name) === "function") ? functionsOf(core) : null;
}

/** Guarantee: functions of these names, which tests/guard/serve_connection_test.ts holds to the rest. */
function functionsOf(core: unknown): ResourceFunctions {
  return core as ResourceFunctions;
}

function memberOf(object: unknown, name: unknown): unknown {
  const isKey = typeof name === "string" || typeof name === "symbol";
  return isKey && typeof object === "object" && object !== null ? Reflect.get(object, name) : undefined;
}
