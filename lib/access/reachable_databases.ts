// The databases and branches that an API token reaches, for a caller who has to choose one.
import type { TokenCaller } from "./caller.ts";
import { roleAt, roleAtBranch, TRUNK } from "./resolve_target.ts";
import type { ControlPlane } from "../control/control_plane.ts";
import { higherRole, lowerRole, type Role } from "../core/role.ts";
import type { DatabaseRecord, ScopeRow } from "../store/records.ts";

/** A database or branch, and what the token may do there. */
export interface ReachableDatabase {
  /** As it stands in a path: `<slug>`, or `<slug>@<ref>`. */
  readonly database: string;
  readonly name: string;
  readonly role: Role;
}

/** `more`: there are others, which may be named all the same. */
export interface ReachableDatabases {
  readonly databases: readonly ReachableDatabase[];
  readonly more: boolean;
}

interface ReachContext {
  readonly control: ControlPlane;
}

/** Databases in one answer: more than anybody reads. */
const MAX_LISTED = 200;

/**
 * The databases of the namespace; of a token with scopes those that they name, and the branches that it has claimed.
 * Branches of others are not among them. `prefix`: only those whose slugs begin so. Errors: `meter_unreachable`.
 */
export async function reachableDatabases(
  ctx: ReachContext,
  caller: TokenCaller,
  prefix = "",
): Promise<ReachableDatabases> {
  if (caller.scopes.length > 0) {
    const found = (await Promise.all(places(caller).map((place) => reachedBy(ctx, caller, place)))).flat();
    const bySlug = new Map(
      found.filter(({ database }) => database.startsWith(prefix)).map((one) => [one.database, one]),
    );
    const databases = [...bySlug.values()].toSorted((a, b) => a.database < b.database ? -1 : 1);
    return { databases: databases.slice(0, MAX_LISTED), more: databases.length > MAX_LISTED };
  }
  const page = { prefix, cursor: null, pageSize: MAX_LISTED };
  const { records, nextCursor } = await ctx.control.databases.list(caller.namespaceId, page);
  const databases = records.map(({ slug, name }) => ({ database: slug, name, role: caller.role }));
  return { databases, more: nextCursor !== null };
}

/** The path of the only database that the token reaches, claimed branches aside; null where there is another number. */
export async function soleDatabase(ctx: ReachContext, caller: TokenCaller): Promise<string | null> {
  const rows = places(caller);
  const [row] = rows;
  if (row !== undefined) {
    if (rows.length > 1) return null;
    const [only] = await reachedBy(ctx, caller, row);
    return only?.database ?? null;
  }
  const { records } = await ctx.control.databases.list(caller.namespaceId, { cursor: null, pageSize: 2 });
  return records.length === 1 ? records[0]?.slug ?? null : null;
}

/** The highest role that the token has anywhere. */
export function highestRole({ role, scopes }: TokenCaller): Role {
  if (scopes.length === 0) return role;
  return lowerRole(role, scopes.map((row) => row.role).reduce(higherRole, "read"));
}

/** What the scopes name, each once. */
function places({ scopes }: TokenCaller): ScopeRow[] {
  return [...new Map(scopes.map((row) => [`${row.databaseId} ${row.branchRef}`, row])).values()];
}

/** The database or branch that a scope names, and the branches of it that the token has claimed. */
async function reachedBy(
  { control }: ReachContext,
  caller: TokenCaller,
  { databaseId, branchRef }: ScopeRow,
): Promise<ReachableDatabase[]> {
  const { namespaceId } = caller;
  if (branchRef === TRUNK) {
    const trunk = await control.databases.byId(namespaceId, databaseId);
    return trunk === null ? [] : [...reached(caller, trunk), ...await claimed(control, caller, trunk)];
  }
  const branch = await control.branches.byId(namespaceId, databaseId);
  const trunk = branch && await control.databases.byId(namespaceId, branch.trunkId);
  return trunk ? reached(caller, { ...trunk, id: databaseId, branchRef }) : [];
}

function reached(caller: TokenCaller, { id, slug, name, branchRef }: DatabaseRecord): ReachableDatabase[] {
  const role = roleAt(caller, { id, branchRef });
  if (role === null) return [];
  return [{ database: branchRef === TRUNK ? slug : `${slug}@${branchRef}`, name, role }];
}

async function claimed(
  control: ControlPlane,
  caller: TokenCaller,
  trunk: DatabaseRecord,
): Promise<ReachableDatabase[]> {
  if (roleAt(caller, trunk) !== "admin") return [];
  const branches = await control.branches.list(caller.namespaceId, trunk.id);
  return branches.flatMap((branch) => {
    const role = roleAtBranch(caller, branch);
    return role === null ? [] : [{ database: `${trunk.slug}@${branch.ref}`, name: trunk.name, role }];
  });
}
