// A new API token. The plaintext is in the answer, once.
import { newToken, tokenHash } from "../../access/token_format.ts";
import { AppError, type Issue } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { Role } from "../../core/role.ts";
import type { ScopeRow, TokenRecord } from "../../store/records.ts";
import type { ManageContext } from "../manage_context.ts";
import { requireNamespace } from "../namespaces/require_namespace.ts";
import { type TokenView, tokenView } from "./token_view.ts";

export interface TokenInput {
  readonly namespaceSlug: string;
  readonly name: string;
  readonly role: Role;
  readonly scopes?: readonly ScopeRow[] | undefined;
  readonly expiresInSec?: number | undefined;
}

/** Errors: `validation_failed` for scopes that name nothing, and those of `requireNamespace`. */
export async function createToken(
  ctx: ManageContext,
  input: TokenInput,
): Promise<TokenView & { readonly token: string }> {
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  const scopes = await requireScopes(ctx, namespace.id, input.scopes ?? []);
  const now = ctx.clock.now();
  const token = newToken("cub_live_");
  const record: TokenRecord = {
    id: newId("tok", now),
    hash: tokenHash(token),
    name: input.name,
    namespaceId: namespace.id,
    role: input.role,
    scopes,
    createdAt: now,
    expiresAt: input.expiresInSec === undefined ? null : now + input.expiresInSec * 1000,
  };
  if (!await ctx.control.tokens.add(record)) throw new AppError("namespace_not_found");
  return { ...tokenView(record), token };
}

/** The rows with the id of what each reaches: a branch may be named by the database that it is of. */
async function requireScopes(
  ctx: ManageContext,
  namespaceId: string,
  scopes: readonly ScopeRow[],
): Promise<ScopeRow[]> {
  const issues: Issue[] = [];
  const found: ScopeRow[] = [];
  for (const [index, row] of scopes.entries()) {
    const place = await placeOf(ctx, namespaceId, row);
    if (typeof place === "string") found.push({ ...row, databaseId: place });
    else issues.push({ ...place, path: `scopes[${index}].${place.path}` });
  }
  if (issues.length > 0) throw new AppError("validation_failed", { issues });
  return found;
}

/** The id of the database or branch that a row names. */
async function placeOf(
  { control }: ManageContext,
  namespaceId: string,
  { databaseId, branchRef }: ScopeRow,
): Promise<string | Issue> {
  const database = await control.databases.byId(namespaceId, databaseId);
  const ownRef = database?.branchRef ?? (await control.branches.byId(namespaceId, databaseId))?.ref ?? null;
  if (ownRef === null) {
    return { path: "databaseId", message: "Send the id of a database of this namespace, or of a branch" };
  }
  if (ownRef === branchRef) return databaseId;
  // Not from the cache, which may still have the copy before this one.
  const branches = database ? await control.branches.list(namespaceId, databaseId) : [];
  const branch = branches.find(({ ref }) => ref === branchRef);
  const refs = database
    ? "main for the trunk, or the ref of a branch that there is"
    : `${ownRef}, its own ref`;
  return branch?.id ?? { path: "branchRef", message: `Send a branch of this database: ${refs}` };
}
