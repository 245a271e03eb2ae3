// What the pages of one database begin with: who asks, which database, and the address of its pages.
import type { Context } from "hono";
import {
  readAddress,
  resolveCallerTarget,
  splitAddress,
  type Target,
} from "../../../lib/access/resolve_target.ts";
import { AppError } from "../../../lib/core/errors.ts";
import type { BranchContext } from "../../../lib/services/branches/branch_context.ts";
import type { MergeContext } from "../../../lib/services/branches/run_merge.ts";
import type { DatabaseAddress } from "../../../lib/services/databases/database_record.ts";
import type { StatementsContext } from "../../../lib/services/query/run_statements.ts";
import type { RestoreIntoContext } from "../../../lib/services/snapshots/manage_snapshots.ts";
import type { AppDeps } from "../../http/app_deps.ts";
import type { Env } from "../../http/env.ts";
import { callerStatements } from "../../http/service_contexts.ts";
import { personCaller, readmitSession } from "./session.ts";

/** What the services of a page need. */
export type PageContext = StatementsContext & MergeContext & { readonly target: Target };

/** The database of a page. */
export interface DatabasePage {
  /** For the SQL services: the caller's role there, and the caller in the log. */
  readonly ctx: PageContext;
  readonly target: Target;
  readonly namespace: string;
  /** As in the address: `shop` or `shop@pr-42`. */
  readonly path: string;
  /** `/console/<namespace>/db/<database>`. */
  readonly base: string;
}

/**
 * The database that the path `/:ns/db/:db` names. Errors: `session_ended`, `namespace_mismatch`, `namespace_not_found`,
 * `database_not_found`.
 */
export async function databasePage(deps: AppDeps, c: Context<Env>): Promise<DatabasePage> {
  const { query, control } = deps;
  const caller = personCaller(c);
  const { ns = "", db = "" } = c.req.param();
  const target = await resolveCallerTarget({ control }, caller, { namespaceSlug: ns, databasePath: db });
  const readmit = () => readmitSession(deps, c);
  const statements = callerStatements(query, { caller, target, readmit });
  return {
    ctx: { ...statements, target, control, caller },
    target,
    namespace: target.namespaceSlug,
    path: target.databaseSlug,
    base: `/console/${target.namespaceSlug}/db/${target.databaseSlug}`,
  };
}

/** For the services of snapshots. */
export function snapshotContext(
  deps: AppDeps,
  c: Context<Env>,
  { target }: DatabasePage,
): RestoreIntoContext {
  const { tenants, clock, control } = deps;
  return { tenants, clock, control, target, caller: personCaller(c) };
}

/** Where a page of a database stands: for its links, and for calls that one copies. */
export interface PagePlace extends Pick<DatabasePage, "namespace" | "path"> {
  /** The address of the page. */
  readonly base: string;
  /** Where the service answers. */
  readonly baseUrl: string;
}

/** A page of what belongs to the trunk, whichever branch the address names. */
export interface TrunkPage {
  readonly address: DatabaseAddress;
  /** The branch in the address; null: it names the trunk itself. */
  readonly ref: string | null;
  /** `/console/<namespace>/db/<trunk>/<name>`. */
  readonly base: string;
}

/** The page with that name of the database that the path `/:ns/db/:db` names. Errors: `database_not_found`. */
export function trunkPage(c: Context<Env>, name: string): TrunkPage {
  const { ns = "", db = "" } = c.req.param();
  const read = readAddress(db);
  if (read === null) throw new AppError("database_not_found");
  const { slug, ref } = read;
  return { address: { namespaceSlug: ns, slug }, ref, base: `/console/${ns}/db/${slug}/${name}` };
}

/** The branches of a database, whichever of them the address names; `path`: of the trunk. */
export interface BranchPage extends Omit<PagePlace, "baseUrl"> {
  /** For the services of branches, which begin at the trunk. */
  readonly branches: BranchContext;
}

/** Errors: those of `databasePage`. */
export async function branchPage(deps: AppDeps, c: Context<Env>): Promise<BranchPage> {
  const caller = personCaller(c);
  const { ns = "", db = "" } = c.req.param();
  const { slug: trunk } = splitAddress(db);
  const { control, tenants, clock } = deps;
  const target = await resolveCallerTarget({ control }, caller, { namespaceSlug: ns, databasePath: trunk });
  return {
    namespace: target.namespaceSlug,
    path: target.databaseSlug,
    branches: { control, tenants, clock, target, caller },
    base: `/console/${target.namespaceSlug}/db/${trunk}/branches`,
  };
}
