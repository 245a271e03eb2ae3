// From the path of a request to the database and branch that it addresses, with the caller's role there. On the hot
// path: it answers at once while the database's record is cached.
import type { ControlPlane } from "../control/control_plane.ts";
import { andThen } from "../core/and_then.ts";
import { AppError } from "../core/errors.ts";
import { higherRole, lowerRole, type Role, roleOfMember } from "../core/role.ts";
import type { BranchRecord, DatabaseRecord, ScopeRow } from "../store/records.ts";
import type { Caller, MemberCaller, TokenCaller } from "./caller.ts";
import { isBranchRef, isSlug } from "./slug.ts";

/** The part of a path that names a database. */
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
  /** The name in a path: `<slug>@<ref>` for a branch. */
  readonly databaseSlug: string;
  readonly branchRef: string;
  /** The effective role: the lower of the token's role and its scope's, or what a member's allows. */
  readonly role: Role;
}

/** The ref of the branch that every database has. */
export const TRUNK = "main";

/** Who reaches databases of one namespace. */
type Inhabitant = TokenCaller | Pick<MemberCaller, "kind" | "namespaceId" | "namespaceSlug" | "role">;

/**
 * Resolves a path for whoever calls `/api` or the console: as for a token, and the operator reaches everything as an
 * admin. Errors: as `resolveTarget`, and `namespace_not_found` for the operator.
 */
export function resolveCallerTarget(
  ctx: { readonly control: ControlPlane },
  caller: Caller,
  path: TargetPath,
): Target | Promise<Target> {
  if (caller.kind !== "operator") return resolveTarget(ctx, caller, path);
  return andThen(ctx.control.namespaces.bySlug(path.namespaceSlug), (namespace) => {
    if (namespace === null) throw new AppError("namespace_not_found");
    const { id: namespaceId, slug: namespaceSlug } = namespace;
    return resolveTarget(ctx, { kind: "member", namespaceId, namespaceSlug, role: "admin" }, path);
  });
}

/**
 * Resolves a path. The plain slug means the trunk, or the branch of a token that reaches only that branch. Errors:
 * `namespace_mismatch`, `database_not_found`, `branch_not_found`, `out_of_scope`, `meter_unreachable`.
 */
export function resolveTarget(
  ctx: { readonly control: ControlPlane },
  caller: Inhabitant,
  path: TargetPath,
): Target | Promise<Target> {
  if (caller.namespaceSlug !== path.namespaceSlug) throw new AppError("namespace_mismatch");
  const address = readAddress(path.databasePath);
  if (address === null) throw new AppError("database_not_found");
  return andThen(ctx.control.databases.bySlug(caller.namespaceId, address.slug), (trunk) => {
    if (trunk === null) throw new AppError("database_not_found");
    if (address.ref === TRUNK) return toTarget(caller, trunk);
    const pin = address.ref === null ? pinnedBranch(caller) : null;
    const ref = address.ref ?? pin?.branchRef;
    if (ref === undefined) return toTarget(caller, trunk);
    const { namespaceId, id: trunkId } = trunk;
    return andThen(ctx.control.branches.byRef({ namespaceId, trunkId, ref }), (branch) => {
      // The token's branch belongs to another database.
      if (pin !== null && branch?.id !== pin.databaseId) return toTarget(caller, trunk);
      if (branch === null) throw new AppError("branch_not_found");
      const addressed = { namespaceId, id: branch.id, branchRef: ref, slug: `${trunk.slug}@${ref}` };
      return toTarget(caller, addressed, roleAtBranch(caller, branch));
    });
  });
}

/**
 * The caller's role at a database or branch: of a token the highest of its scopes there. Null where it has scopes and
 * none is for it.
 */
export function roleAt(
  caller: Inhabitant,
  at: { readonly id: string; readonly branchRef: string },
): Role | null {
  if (caller.kind === "member") return roleOfMember(caller.role);
  if (caller.scopes.length === 0) return caller.role;
  let granted: Role | null = null;
  for (const row of caller.scopes) {
    if (row.databaseId !== at.id || row.branchRef !== at.branchRef) continue;
    granted = granted === null ? row.role : higherRole(granted, row.role);
  }
  return granted === null ? null : lowerRole(granted, caller.role);
}

/**
 * The caller's role at a branch: that of its scopes, or admin where an admin of the trunk has claimed the branch with
 * this very token. Who could copy the trunk loses nothing by it, and needs no second token.
 */
export function roleAtBranch(
  caller: Inhabitant,
  { id, ref, trunkId, claimedBy }: BranchRecord,
): Role | null {
  const isClaimer = caller.kind === "token" && claimedBy === caller.tokenId;
  if (isClaimer && roleAt(caller, { id: trunkId, branchRef: TRUNK }) === "admin") return "admin";
  return roleAt(caller, { id, branchRef: ref });
}

/** A database as paths name it; `ref` is null where they leave it out. */
export interface DatabaseAddressParts {
  readonly slug: string;
  readonly ref: string | null;
}

/** Splits `<slug>@<ref>`. Null for what cannot be an address. */
export function readAddress(databasePath: string): DatabaseAddressParts | null {
  const { slug, ref } = splitAddress(databasePath);
  return isSlug(slug) && (ref === null || isBranchRef(ref)) ? { slug, ref } : null;
}

/** The same for a path that is known to name a database, or is looked up next: it is split and not judged. */
export function splitAddress(databasePath: string): DatabaseAddressParts {
  const at = databasePath.indexOf("@");
  if (at < 0) return { slug: databasePath, ref: null };
  return { slug: databasePath.slice(0, at), ref: databasePath.slice(at + 1) };
}

/** The only branch that the token reaches; null where it reaches a trunk or several branches. */
function pinnedBranch(caller: Inhabitant): ScopeRow | null {
  const scopes = caller.kind === "token" ? caller.scopes : [];
  const [first] = scopes;
  if (first === undefined || first.branchRef === TRUNK) return null;
  const same = scopes.every((row) =>
    row.databaseId === first.databaseId && row.branchRef === first.branchRef
  );
  return same ? first : null;
}

type Addressed = Pick<DatabaseRecord, "id" | "namespaceId" | "slug" | "branchRef">;

function toTarget(caller: Inhabitant, database: Addressed, role = roleAt(caller, database)): Target {
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
