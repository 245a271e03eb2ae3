// Creates, lists, revokes and describes API tokens.
import { requireFresh } from "../../access/caller.ts";
import type { TokenCaller } from "../../access/caller.ts";
import { newToken, tokenHash } from "../../access/token_format.ts";
import type { PageInput } from "../../control/list_page.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError, type Issue } from "../../core/errors.ts";
import { isId, newId } from "../../core/ids.ts";
import type { Role } from "../../core/role.ts";
import { readAddress } from "../../access/resolve_target.ts";
import type { ScopeRow, TokenAudience, TokenRecord } from "../../store/records.ts";
import { withAct } from "../note_act.ts";
import type { ManageContext } from "../manage_context.ts";
import { readableNamespace, requireNamespace } from "../namespaces/namespace_record.ts";
import { requireCursor, type ShownPage } from "../shown_page.ts";

/** A scope to give: by `databaseId` or `databaseSlug`. What is left out is the trunk, and the role of the token. */
interface ScopeInput {
  readonly databaseId?: string | undefined;
  /** Of a branch `<slug>@<ref>`, as in addresses. */
  readonly databaseSlug?: string | undefined;
  readonly branchRef?: string | undefined;
  readonly role?: Role | undefined;
}

/** A token to create. */
export interface TokenInput {
  readonly namespaceSlug: string;
  readonly name: string;
  readonly role: Role;
  readonly scopes?: readonly ScopeInput[] | undefined;
  readonly expiresInSec?: number | undefined;
}

/**
 * A new token; its plaintext is in this answer and nowhere else. Errors: `sign_in_again`, `validation_failed` for
 * scopes that name nothing, those of `requireNamespace`.
 */
export async function createToken(
  ctx: ManageContext,
  input: TokenInput,
): Promise<TokenView & { readonly token: string }> {
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  requireFresh(ctx.caller, ctx.clock.now());
  const scopes = await requireScopes(ctx, namespace.id, input);
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
  const { id, role, name } = record;
  const facts = { name, role, scopes: scopes.length };
  const act = withAct(ctx, "token.created", { namespaceId: namespace.id, target: id, facts });
  if (!await ctx.control.tokens.add(record, act)) throw new AppError("namespace_not_found");
  return { ...tokenView(record), token };
}

/** The scopes with the id of what each reaches: a branch may be named by the id of its trunk. */
async function requireScopes(
  ctx: ManageContext,
  namespaceId: string,
  { scopes = [], role }: TokenInput,
): Promise<ScopeRow[]> {
  const issues: Issue[] = [];
  const found: ScopeRow[] = [];
  for (const [index, scope] of scopes.entries()) {
    const reached = await reachedBy(ctx, namespaceId, scope);
    if ("path" in reached) issues.push({ ...reached, path: `scopes[${index}].${reached.path}` });
    else found.push({ ...reached, role: scope.role ?? role });
  }
  if (issues.length > 0) throw new AppError("validation_failed", { issues });
  return found;
}

/** The database or branch that a scope names. */
async function reachedBy(
  { control }: ManageContext,
  namespaceId: string,
  scope: ScopeInput,
): Promise<Omit<ScopeRow, "role"> | Issue> {
  const named = await trunkNamed(control, namespaceId, scope);
  if ("path" in named) return named;
  const { databaseId } = named;
  const database = await control.databases.byId(namespaceId, databaseId);
  const ownRef = database?.branchRef ?? (await control.branches.byId(namespaceId, databaseId))?.ref ?? null;
  if (ownRef === null) {
    return { path: "databaseId", message: "Send the id of a database of this namespace, or of a branch" };
  }
  const branchRef = named.branchRef ?? ownRef;
  if (ownRef === branchRef) return { databaseId, branchRef };
  // Reads past the cache, which may still name the copy before this one.
  const branches = database ? await control.branches.list(namespaceId, databaseId) : [];
  const branch = branches.find(({ ref }) => ref === branchRef);
  if (branch) return { databaseId: branch.id, branchRef };
  const refs = database
    ? "main for the trunk, or the ref of a branch that there is"
    : `${ownRef}, its own ref`;
  const path = scope.branchRef === undefined ? "databaseSlug" : "branchRef";
  return { path, message: `Send a branch of this database: ${refs}` };
}

/** A scope with the id in place of the slug, and the ref that stands behind it. */
async function trunkNamed(
  { databases }: ManageContext["control"],
  namespaceId: string,
  { databaseId, databaseSlug, branchRef }: ScopeInput,
): Promise<{ readonly databaseId: string; readonly branchRef: string | undefined } | Issue> {
  if ((databaseId === undefined) === (databaseSlug === undefined)) {
    return { path: "databaseId", message: "Send this or databaseSlug; one of the two is required" };
  }
  if (databaseSlug === undefined) return { databaseId: databaseId ?? "", branchRef };
  const address = readAddress(databaseSlug);
  const named = address && await databases.bySlug(namespaceId, address.slug);
  if (!address || !named) {
    return {
      path: "databaseSlug",
      message: "Send the slug of a database of this namespace; of a branch <slug>@<ref>",
    };
  }
  const ref = address.ref ?? branchRef;
  if (branchRef !== undefined && branchRef !== ref) {
    return { path: "branchRef", message: "Leave this out; databaseSlug names the branch" };
  }
  return { databaseId: named.id, branchRef: ref };
}

/** A token as the API shows it. */
export interface TokenView {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly scopes: readonly ScopeRow[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
  /** `mcp`: counts at `/mcp` only. */
  readonly audience: TokenAudience | null;
  /** Where the client is that was allowed to use it; null: nobody was. */
  readonly client: string | null;
}

/** A token record as the API shows it: everything but the token. */
function tokenView({ id, name, role, scopes, createdAt, expiresAt, ...given }: TokenRecord): TokenView {
  return {
    id,
    name,
    role,
    scopes,
    createdAt: isoTime(createdAt),
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
    audience: given.audience ?? null,
    client: given.client?.host ?? null,
  };
}

/** A token in the list. */
export interface ListedToken extends TokenView {
  /** Null: never. Exact for the requests of this process, some minutes behind for those of others. */
  readonly lastUsedAt: string | null;
}

/** The tokens of a namespace, without their secrets. Errors: `validation_failed` for a cursor that is none, those of `requireNamespace`. */
export async function listTokens(
  ctx: ManageContext,
  input: PageInput & { readonly namespaceSlug: string },
): Promise<ShownPage<ListedToken>> {
  requireCursor(input.cursor, "tok");
  const namespace = await readableNamespace(ctx, input.namespaceSlug);
  const { records, nextCursor } = await ctx.control.tokens.list(namespace.id, input);
  const items = await Promise.all(records.map(async (record) => {
    const usedMs = await ctx.control.tokenUses.lastOf(record);
    return { ...tokenView(record), lastUsedAt: usedMs === null ? null : isoTime(usedMs) };
  }));
  return { items, nextCursor };
}

/** Revokes a token of a namespace. Errors: `sign_in_again`, `token_not_found` and those of `requireNamespace`. */
export async function revokeToken(
  ctx: ManageContext,
  input: { readonly namespaceSlug: string; readonly id: string },
): Promise<{ id: string }> {
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  requireFresh(ctx.caller, ctx.clock.now());
  const act = withAct(ctx, "token.revoked", { namespaceId: namespace.id, target: input.id });
  const removed = isId("tok", input.id) && await ctx.control.tokens.remove(namespace.id, input.id, act);
  if (!removed) throw new AppError("token_not_found");
  return { id: input.id };
}

interface CallerView {
  readonly namespace: string;
  readonly tokenId: string;
  readonly name: string;
  readonly role: Role;
  readonly scopes: readonly ScopeRow[];
  readonly expiresAt: string | null;
}

/** What a bearer may know about its own token. */
export function describeCaller(caller: TokenCaller): CallerView {
  const { namespaceSlug, tokenId, name, role, scopes, expiresAt } = caller;
  return {
    namespace: namespaceSlug,
    tokenId,
    name,
    role,
    scopes,
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
  };
}
