// Which database a libSQL client means, and whether its token reaches it.
import { authenticateToken } from "../../lib/access/authenticate.ts";
import type { TokenCaller } from "../../lib/access/caller.ts";
import { resolveTarget, type Target } from "../../lib/access/resolve_target.ts";
import { AppError } from "../../lib/core/errors.ts";
import type { DoorContext } from "../../lib/services/hrana/hrana_types.ts";
import { soleDatabase } from "../../lib/access/reachable_databases.ts";
import type { AppDeps } from "../http/app_deps.ts";

/** The part of the address that names a database; null: what the token says. */
export interface DoorAddress {
  readonly namespaceSlug: string | null;
  readonly database: string | null;
}

/** Who calls, and for what. Errors: those of the bearer and of the path, `database_not_named`. */
export async function enterDoor(
  deps: AppDeps,
  authorization: string | undefined,
  address: DoorAddress,
): Promise<DoorContext> {
  const token = await authenticateToken(deps, authorization);
  const target = await targetOf(deps, token, address);
  const { begin } = deps.hrana;
  return { ...deps, ...deps.query, target, tokenId: token.tokenId, caller: token, begin };
}

async function targetOf(
  deps: AppDeps,
  token: TokenCaller,
  { namespaceSlug, database }: DoorAddress,
): Promise<Target> {
  const namespace = namespaceSlug ?? token.namespaceSlug;
  if (database !== null) {
    return await resolveTarget(deps, token, { namespaceSlug: namespace, databasePath: database });
  }
  if (namespace !== token.namespaceSlug) throw new AppError("namespace_mismatch");
  const sole = await soleDatabase(deps, token);
  if (sole === null) throw new AppError("database_not_named");
  return await resolveTarget(deps, token, { namespaceSlug: namespace, databasePath: sole });
}
