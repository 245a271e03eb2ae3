// Which database a libSQL client means, and whether its token reaches it.
import { authenticateSecret } from "../../lib/access/authenticate.ts";
import type { TokenCaller } from "../../lib/access/caller.ts";
import { resolveTarget, type Target } from "../../lib/access/resolve_target.ts";
import { andThen } from "../../lib/core/and_then.ts";
import { AppError } from "../../lib/core/errors.ts";
import type { DoorContext } from "../../lib/services/hrana/hrana_types.ts";
import { soleDatabase } from "../../lib/access/reachable_databases.ts";
import type { AppDeps } from "../http/app_deps.ts";

/** The part of the address that names a database; null: what the token says. */
export interface DoorAddress {
  readonly namespaceSlug: string | null;
  readonly database: string | null;
}

/** Lets the holder of a token in. Errors: those of the bearer and of the path, `database_not_named`. */
export type EnterDoor = (token: string, address: DoorAddress) => DoorContext | Promise<DoorContext>;

/** The parts of the process are put together once: for each request it would cost a tenth of a read on a socket. */
export function doorOf(deps: AppDeps): EnterDoor {
  const parts = { ...deps.query, control: deps.control, begin: deps.hrana.begin };
  const enter = (caller: TokenCaller, address: DoorAddress) =>
    andThen(
      targetOf(deps, caller, address),
      (target) => ({ ...parts, target, tokenId: caller.tokenId, caller }),
    );
  return (token, address) => andThen(authenticateSecret(deps, token), (caller) => enter(caller, address));
}

/** At once where the records are cached: the hot path makes no promise. */
function targetOf(
  deps: AppDeps,
  token: TokenCaller,
  { namespaceSlug, database }: DoorAddress,
): Target | Promise<Target> {
  const namespace = namespaceSlug ?? token.namespaceSlug;
  if (database === null) return soleTarget(deps, token, namespace);
  return resolveTarget(deps, token, { namespaceSlug: namespace, databasePath: database });
}

async function soleTarget(deps: AppDeps, token: TokenCaller, namespace: string): Promise<Target> {
  if (namespace !== token.namespaceSlug) throw new AppError("namespace_mismatch");
  const sole = await soleDatabase(deps, token);
  if (sole === null) throw new AppError("database_not_named");
  return await resolveTarget(deps, token, { namespaceSlug: namespace, databasePath: sole });
}
