// From the path of a request to the database and branch it addresses, with the caller's role there. On the hot path:
// answers at once while the database's record is kept.
import type { ControlPlane } from "../control/control_plane.ts";
import { AppError } from "../core/errors.ts";
import { higherRole, lowerRole, type Role } from "../core/role.ts";
import type { DatabaseRecord } from "../store/records.ts";
import type { TokenCaller } from "./caller.ts";
import { isSlug } from "./slug.ts";

export interface TargetPath {
  readonly namespaceSlug: string;
  /** `<slug>` or `<slug>@<ref>`. */
  readonly databasePath: string;
}

/** A database and branch that the caller may use. */
export interface Target {
  readonly databaseId: string;
  readonly namespaceId: string;
  readonly namespaceSlug: string;
  readonly databaseSlug: string;
  readonly branchRef: string;
  /** The effective one: the lower of the token's role and of its scope row's. */
  readonly role: Role;
}

/** The branch that every database has. */
export const TRUNK = "main";

/**
 * Errors: `namespace_mismatch`, `database_not_found` (unknown database or branch), `out_of_scope`,
 * `meter_unreachable`.
 */
export function resolveTarget(
  ctx: { readonly control: ControlPlane },
  caller: TokenCaller,
  path: TargetPath,
): Target | Promise<Target> {
  if (caller.namespaceSlug !== path.namespaceSlug) throw new AppError("namespace_mismatch");
  const slug = trunkSlug(path.databasePath);
  if (slug === null) throw new AppError("database_not_found");
  const record = ctx.control.databases.bySlug(caller.namespaceId, slug);
  return record instanceof Promise
    ? record.then((value) => toTarget(caller, value))
    : toTarget(caller, record);
}

/** Null for what cannot be an address of a trunk; other branches do not exist yet. */
function trunkSlug(databasePath: string): string | null {
  const at = databasePath.indexOf("@");
  const slug = at < 0 ? databasePath : databasePath.slice(0, at);
  if (at >= 0 && databasePath.slice(at + 1) !== TRUNK) return null;
  return isSlug(slug) ? slug : null;
}

function toTarget(caller: TokenCaller, database: DatabaseRecord | null): Target {
  if (database === null) throw new AppError("database_not_found");
  const role = effectiveRole(caller, database);
  if (role === null) throw new AppError("out_of_scope");
  return {
    databaseId: database.id,
    namespaceId: database.namespaceId,
    namespaceSlug: caller.namespaceSlug,
    databaseSlug: database.slug,
    branchRef: database.branchRef,
    role,
  };
}

/** Null when the token has scope rows and none is for this branch. Of several the highest counts. */
function effectiveRole(caller: TokenCaller, database: DatabaseRecord): Role | null {
  if (caller.scopes.length === 0) return caller.role;
  let granted: Role | null = null;
  for (const row of caller.scopes) {
    if (row.databaseId !== database.id || row.branchRef !== database.branchRef) continue;
    granted = granted === null ? row.role : higherRole(granted, row.role);
  }
  return granted === null ? null : lowerRole(granted, caller.role);
}
