// What is known of the request that a message came in, and which databases its tools may name.
import type { TokenCaller } from "../../../lib/access/caller.ts";
import { type Target, TRUNK } from "../../../lib/access/resolve_target.ts";
import { lowerRole, type Role } from "../../../lib/core/role.ts";
import { highestRole, soleDatabase } from "../../../lib/access/reachable_databases.ts";
import type { AppDeps } from "../../http/app_deps.ts";
import type { Narrowing } from "./narrowing.ts";

/** A message's way in. */
export interface McpVisit {
  readonly deps: AppDeps;
  readonly caller: TokenCaller;
  readonly narrowing: Narrowing;
  /** `req_…`. */
  readonly requestId: string;
  /** The message as it was sent. */
  readonly body: string;
}

/**
 * How a tool's arguments name the database. `named`: `database` is needed. `sole`: it may be left out, for the token
 * reaches this one only. `fixed`: the address names a branch, so that there is no such argument. `branches`: it
 * names a trunk, and `branch` may name a branch of it.
 */
export type Addressing =
  | { readonly kind: "named" }
  | { readonly kind: "sole" | "fixed" | "branches"; readonly path: string };

/** Errors: `meter_unreachable`. */
export async function addressingOf({ deps, caller, narrowing }: McpVisit): Promise<Addressing> {
  const { target } = narrowing;
  if (target !== null) {
    return { kind: target.branchRef === TRUNK ? "branches" : "fixed", path: target.databaseSlug };
  }
  const path = await soleDatabase(deps, caller);
  return path === null ? { kind: "named" } : { kind: "sole", path };
}

/** The highest role that any tool of the connection can have: tools above it are neither listed nor run. */
export function connectionRole({ caller, narrowing }: McpVisit): Role {
  if (narrowing.readOnly) return "read";
  return narrowing.target?.role ?? highestRole(caller);
}

/** What a call may do with a database: no more than the connection. */
export function boundTarget({ narrowing }: McpVisit, target: Target): Target {
  return narrowing.readOnly ? { ...target, role: lowerRole(target.role, "read") } : target;
}
