// Short ways to mint, verify and revoke sessions of `acme/main`.
import { assertEquals } from "@std/assert";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { type SessionCheck, verifySession } from "../../lib/access/verify_session.ts";
import type { SessionDatabase } from "../../lib/control/session_keys.ts";
import type { AppDeps } from "../../routes/http/app_deps.ts";
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";
import { member } from "../testing/test_namespace.ts";

export interface SessionApp {
  readonly deps: AppDeps;
  readonly request: (method: string, path: string, options?: ApiRequest) => Promise<ApiAnswer>;
}

export const REVOKE = "/api/namespaces/acme/databases/main/sessions/revoke_all";

/** The answer to a mint in `acme/main` for user `7`, unless the body says otherwise. */
export function mint({ request }: SessionApp, token: string, body: object = {}): Promise<ApiAnswer> {
  const asked = { namespaceSlug: "acme", databaseSlug: "main", userId: "7", ...body };
  return request("POST", "/v1/sessions", { token, body: asked });
}

/** The JWT of a fresh session. */
export async function minted(app: SessionApp, token: string, body: object = {}): Promise<string> {
  const answer = await mint(app, token, body);
  assertEquals(answer.status, 201, answer.text);
  return member(answer, "token");
}

/** Where the database of that slug in `acme` is. */
export async function databaseOf({ deps }: SessionApp, slug = "main"): Promise<SessionDatabase> {
  const namespace = await deps.control.namespaces.bySlug("acme");
  const database = namespace && await deps.control.databases.bySlug(namespace.id, slug);
  if (database === null) throw new Error(`${slug} is gone`);
  return { namespaceId: database.namespaceId, databaseId: database.id };
}

export function check({ deps }: SessionApp, database: SessionDatabase, jwt: string): Promise<SessionCheck> {
  const { clock, control: { sessionKeys } } = deps;
  return verifySession({ clock, sessionKeys }, database, jwt);
}

/** `ok`, or why the session is refused. */
export async function verdict(app: SessionApp, database: SessionDatabase, jwt: string): Promise<string> {
  const checked = await check(app, database, jwt);
  return checked.ok ? "ok" : checked.reason;
}

/** Header and claims, unverified. */
export function contentOf(jwt: string): { header: object; claims: Record<string, unknown> } {
  return { header: decodeProtectedHeader(jwt), claims: decodeJwt(jwt) };
}
