// Functions of the runtime that are not public: they name and close what it holds open, where its public ones cannot.
import { runtimeFunctions } from "../core/runtime_functions.ts";

/** The functions, as of 2.9. A resource is an open file, connection, socket or server, known by its number. */
export interface ResourceFunctions {
  /** Names of all resources by their numbers. */
  resources(): Readonly<Record<string, string>>;
  /** Errors: `BadResource` for one that is closed. */
  close(resource: number): void;
  /** A new resource that does nothing. */
  createCancelHandle(): number;
}

/** Null where the runtime does not have them all. */
export function findResourceFunctions(runtime: object = Deno): ResourceFunctions | null {
  return functionsOf(runtimeFunctions(["resources", "close", "createCancelHandle"], runtime));
}

/** Guarantee: functions of these names, which tests/guard/serve_connection_test.ts holds to the rest. */
function functionsOf(functions: object | null): ResourceFunctions | null {
  return functions as ResourceFunctions | null;
}
