// From a tool's arguments to the database that the call is about, and the arguments that are left.
import { resolveTarget, type Target, TRUNK } from "../../lib/access/resolve_target.ts";
import { AppError, type Issue } from "../../lib/core/errors.ts";
import type { DatabaseTool } from "./tools/tool.ts";
import { type Addressing, boundTarget, type McpVisit } from "./tools/visit.ts";

/** The part of the arguments that names the database, as a path, and the rest of them. */
export interface Addressed {
  readonly path: string | null;
  readonly rest: Readonly<Record<string, unknown>>;
  /** What the argument is called that names it; empty where there is none. */
  readonly beside: readonly string[];
  readonly issues: readonly Issue[];
}

const NAME_IT = "Name the database; list_databases lists those that you reach";

/** Takes out the argument that names the database. One that has no place here stays, and is refused as unknown. */
export function readAddress(
  { database: about }: Pick<DatabaseTool, "database">,
  addressing: Addressing,
  given: Readonly<Record<string, unknown>>,
): Addressed {
  if (addressing.kind === "fixed" || (addressing.kind === "branches" && about === "trunk")) {
    return { path: addressing.path, rest: given, beside: [], issues: [] };
  }
  const name = addressing.kind === "branches" ? "branch" : "database";
  const beside = [name];
  const { [name]: named, ...rest } = given;
  // As with every argument that may be left out: some clients have to send it all the same.
  if (named === undefined || named === null || named === "") {
    if (addressing.kind === "named") {
      return { path: null, rest, beside, issues: [{ path: name, message: NAME_IT }] };
    }
    return { path: addressing.path, rest, beside, issues: [] };
  }
  if (typeof named !== "string") {
    return { path: null, rest, beside, issues: [{ path: name, message: "Send a string" }] };
  }
  const path = addressing.kind === "branches" ? `${addressing.path}@${named}` : named;
  return { path, rest, beside, issues: [] };
}

/** Errors: `database_not_found`, `out_of_scope`, `trunk_required`, `meter_unreachable`. */
export async function findTarget(
  visit: McpVisit,
  { database }: Pick<DatabaseTool, "database">,
  databasePath: string,
): Promise<Target> {
  const { deps, caller } = visit;
  const path = { namespaceSlug: caller.namespaceSlug, databasePath };
  const target = boundTarget(visit, await resolveTarget(deps, caller, path));
  if (database === "trunk" && target.branchRef !== TRUNK) throw new AppError("trunk_required");
  return target;
}
