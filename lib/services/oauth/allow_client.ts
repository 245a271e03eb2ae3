// A person allows a client to use databases, or a part of what one of its tokens may: the client gets a code for it.
import { type MemberCaller, requireFresh, type TokenCaller } from "../../access/caller.ts";
import { resolveTarget, type Target } from "../../access/resolve_target.ts";
import { newToken, tokenHash } from "../../access/token_format.ts";
import { AppError, type Issue } from "../../core/errors.ts";
import { lowerRole, type Role, roleAtLeast, roleOfMember } from "../../core/role.ts";
import type { ScopeRow } from "../../store/records.ts";
import { withAct } from "../note_act.ts";
import { type Authorization, refusal, type Return } from "./authorization.ts";
import type { OauthContext } from "./oauth_context.ts";
import { redirectHost, withParameters } from "./redirect_uri.ts";

/** Who can allow: the holder of a token, or a member by its session. The operator belongs to no namespace. */
export type Allower = TokenCaller | MemberCaller;

/** What is allowed. */
export interface Allowed {
  readonly role: Role;
  /** As they stand in paths; null: all that the allower reaches, also what is made later. */
  readonly databases: readonly string[] | null;
}

/**
 * The address with the code, to which the browser goes back. Errors: `sign_in_again`, `validation_failed` on `role` or
 * `database`, `invalid_bearer` or `session_ended` (gone meanwhile), `meter_unreachable`.
 */
export async function allowClient(
  ctx: OauthContext,
  { caller, request, role, databases }: Allowed & {
    readonly caller: Allower;
    readonly request: Authorization;
  },
): Promise<string> {
  requireFresh(caller, ctx.clock.now());
  requireRights(caller, role);
  const scopes = databases === null
    ? ownScopes(caller, role)
    : await scopesOf(ctx, { caller, role, databases });
  const { client, redirectUri, codeChallenge, state, issuer } = request;
  const host = redirectHost(redirectUri);
  const code = newToken("pcode_");
  const grant = {
    namespaceId: caller.namespaceId,
    ...(caller.kind === "token"
      ? { parentId: caller.tokenId }
      : { member: { id: caller.memberId, epoch: caller.epoch } }),
    client: { id: client.id, name: client.name, host },
    role,
    scopes,
  };
  const facts = { client: client.name, role, databases: databases?.length ?? "all" };
  const { namespaceId } = caller;
  const act = withAct({ ...ctx, caller }, "client.allowed", { namespaceId, target: host, facts });
  const record = { grant, redirectUri, codeChallenge };
  if (!await ctx.control.oauthGrants.addCode(tokenHash(code), record, act)) {
    throw new AppError(caller.kind === "token" ? "invalid_bearer" : "session_ended");
  }
  return withParameters(redirectUri, { code, ...(state === null ? {} : { state }), iss: issuer });
}

/** The address by which the client learns that a person has said no. */
export function denyClient(request: Return): string {
  return refusal(request, "access_denied", "The person has denied the request");
}

/** What an allower may pass on at most. */
export function rightsOf(caller: Allower): Role {
  return caller.kind === "token" ? caller.role : roleOfMember(caller.role);
}

function requireRights(caller: Allower, role: Role): void {
  const own = rightsOf(caller);
  if (!roleAtLeast(own, role)) {
    throw refused({ path: "role", message: `Choose ${own} or less; ${whose(caller)} allows no more` });
  }
}

function whose({ kind }: Allower): string {
  return kind === "token" ? "this token" : "your own role";
}

function ownScopes(caller: Allower, role: Role): ScopeRow[] {
  if (caller.kind === "member") return [];
  return caller.scopes.map((row) => ({ ...row, role: lowerRole(row.role, role) }));
}

async function scopesOf(
  { control }: OauthContext,
  { caller, role, databases }: Allowed & { readonly caller: Allower; readonly databases: readonly string[] },
): Promise<ScopeRow[]> {
  if (databases.length === 0) {
    throw refused({ path: "database", message: "Choose what it may reach" });
  }
  const { namespaceSlug } = caller;
  return await Promise.all([...new Set(databases)].map(async (databasePath) => {
    const target = await Promise.try(() =>
      resolveTarget({ control }, caller, { namespaceSlug, databasePath })
    )
      .catch((error: unknown) => {
        throw isAboutPath(error) ? notReached(caller) : error;
      });
    return scopeOf(target, role);
  }));
}

function scopeOf({ databaseId, branchRef, role: own }: Target, role: Role): ScopeRow {
  return { databaseId, branchRef, role: lowerRole(own, role) };
}

function isAboutPath(error: unknown): boolean {
  return error instanceof AppError &&
    ["database_not_found", "branch_not_found", "out_of_scope"].includes(error.code);
}

function notReached(caller: Allower): AppError {
  return refused({
    path: "database",
    message: `Name databases of ${caller.namespaceSlug} that ${
      caller.kind === "token" ? "this token reaches" : "there are"
    }, such as shop or shop@prices`,
  });
}

function refused(issue: Issue): AppError {
  return new AppError("validation_failed", { issues: [issue] });
}
