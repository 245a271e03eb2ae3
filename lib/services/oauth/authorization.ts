// What a client asks a person for: read from the address of the consent page, and checked every time, because nothing of
// it is kept until somebody has decided (RFC 6749, 4.1; RFC 7636; RFC 8707; RFC 9207).
import { AppError } from "../../core/errors.ts";
import { oauthLimits } from "../../core/oauth_limits.ts";
import { type Role, roles } from "../../core/role.ts";
import { isDocumentAddress } from "./client_documents.ts";
import type { OauthClient } from "./client_metadata.ts";
import { issuerOfResource } from "./issuer.ts";
import type { OauthContext } from "./oauth_context.ts";
import { readParameter } from "./read_parameter.ts";
import { isRegistered, withParameters } from "./redirect_uri.ts";

/** A request that a person can decide about. */
export interface Authorization extends Return {
  readonly client: OauthClient;
  readonly codeChallenge: string;
  /** The highest role that it asks for; null: it does not say. */
  readonly wanted: Role | null;
}

/** Where an answer goes. */
export interface Return {
  readonly redirectUri: string;
  readonly state: string | null;
  readonly issuer: string;
}

/** A request that nobody can decide about. */
export interface FailedAuthorization {
  readonly client: OauthClient;
  readonly redirectUri: string;
  /** What is wrong with it, for the client's maker. */
  readonly problem: string;
  /** The address by which the client learns that. */
  readonly location: string;
}

/** What the address holds. */
export type AuthorizationCheck =
  | { readonly ok: true; readonly request: Authorization }
  | { readonly ok: false; readonly failed: FailedAuthorization };

const CHALLENGE = /^[\w-]{43}$/;
const PARAMETERS = [
  ...["client_id", "redirect_uri", "response_type", "state", "scope", "resource"],
  ...["code_challenge", "code_challenge_method"],
] as const;
type Parameter = (typeof PARAMETERS)[number];

/**
 * Checks a request. What is wrong is for the client once client and address are known to belong together, and for nobody
 * before that. Errors: `invalid_request`, `invalid_client`, `invalid_redirect_uri`, `invalid_client_metadata`,
 * `meter_unreachable`.
 */
export async function checkAuthorization(
  ctx: OauthContext,
  query: URLSearchParams,
): Promise<AuthorizationCheck> {
  const read = (name: Parameter) => readParameter(query, name);
  const [clientId, redirectUri] = [read("client_id"), read("redirect_uri")];
  if (clientId === null || redirectUri === null) {
    throw new AppError("invalid_request", { message: "Send client_id and redirect_uri, each once" });
  }
  const client = await findClient(ctx, clientId);
  if (!isRegistered(redirectUri, client.redirectUris)) throw new AppError("invalid_redirect_uri");
  const state = stateOf(query);
  let issuer = ctx.baseUrl;
  try {
    issuer = issuerOfResource(ctx.baseUrl, read("resource"));
    requireCode(read);
    const codeChallenge = requireChallenge(read);
    const wanted = wantedRole(read("scope"));
    // Where it stands twice, or is too long, it was left out above.
    read("state");
    return { ok: true, request: { redirectUri, state, issuer, client, codeChallenge, wanted } };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const location = refusal({ redirectUri, state, issuer }, error.code, error.message);
    return { ok: false, failed: { client, redirectUri, problem: error.message, location } };
  }
}

/** The client of an id. Errors: as `checkAuthorization`. */
async function findClient(ctx: OauthContext, clientId: string): Promise<OauthClient> {
  if (isDocumentAddress(clientId)) return await ctx.documents.find(clientId);
  const client = await ctx.control.oauthClients.find(clientId);
  if (client === null) throw new AppError("invalid_client");
  return client;
}

/** The address by which the client learns that it gets nothing. `error` is a word of RFC 6749 (4.1.2.1). */
export function refusal({ redirectUri, state, issuer }: Return, error: string, description: string): string {
  return withParameters(redirectUri, {
    error,
    error_description: description,
    ...(state === null ? {} : { state }),
    iss: issuer,
  });
}

/** For an answer about a request whose `state` may itself be what is wrong. */
function stateOf(query: URLSearchParams): string | null {
  const [state = "", ...more] = query.getAll("state");
  return state === "" || more.length > 0 || state.length > oauthLimits.stateLength ? null : state;
}

type Read = (name: Parameter) => string | null;

function requireCode(read: Read): void {
  if (read("response_type") === "code") return;
  throw new AppError("unsupported_response_type");
}

/** Without a method the challenge would be the verifier itself, which whoever sees this address could repeat. */
function requireChallenge(read: Read): string {
  const challenge = read("code_challenge");
  if (read("code_challenge_method") !== "S256" || challenge === null || !CHALLENGE.test(challenge)) {
    throw new AppError("invalid_request", {
      message: "Send code_challenge with code_challenge_method S256: 43 characters of base64url",
    });
  }
  return challenge;
}

/** Scopes are roles; words that other servers know are passed over. */
function wantedRole(scope: string | null): Role | null {
  const words = new Set(scope?.split(" ") ?? []);
  return roles.findLast((role) => words.has(role)) ?? null;
}
