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
  const scopes = input.scopes ?? [];
  await requireScopes(ctx, namespace.id, scopes);
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

async function requireScopes(
  ctx: ManageContext,
  namespaceId: string,
  scopes: readonly ScopeRow[],
): Promise<void> {
  const issues: Issue[] = [];
  for (const [index, row] of scopes.entries()) {
    const branchRef = await branchOf(ctx, namespaceId, row.databaseId);
    if (branchRef === null) {
      issues.push({
        path: `scopes[${index}].databaseId`,
        message: "Send the id of a database of this namespace",
      });
    } else if (branchRef !== row.branchRef) {
      issues.push({
        path: `scopes[${index}].branchRef`,
        message: "Send a branch of this database; the trunk is main",
      });
    }
  }
  if (issues.length > 0) throw new AppError("validation_failed", { issues });
}

/** Which branch the id is: `main` for a database of its own, null for none. */
async function branchOf(
  { control }: ManageContext,
  namespaceId: string,
  databaseId: string,
): Promise<string | null> {
  const database = await control.databases.byId(namespaceId, databaseId);
  return database?.branchRef ?? (await control.branches.byId(namespaceId, databaseId))?.ref ?? null;
}
