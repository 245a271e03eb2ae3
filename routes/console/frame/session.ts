// Who is at the console: the cookie becomes `c.get("visit").person`, and what changes something has to come from a page of
// this service. What does so by a session carries that session's own word as well.
import type { Context, MiddlewareHandler } from "hono";
import { getCookie } from "hono/cookie";
import {
  authenticateSession,
  isCsrfToken,
  isOwnOrigin,
  type SignedIn,
} from "../../../lib/access/authenticate_session.ts";
import type { PersonCaller } from "../../../lib/access/caller.ts";
import { AppError } from "../../../lib/core/errors.ts";
import { glanceAt } from "../../../lib/services/money/glance_at.ts";
import { listProofs } from "../../../lib/services/people/own_account.ts";
import type { AppDeps } from "../../http/app_deps.ts";
import { accountContext, manageContext } from "../../http/service_contexts.ts";
import { sessionCookie } from "../../http/session_cookie.ts";
import type { Assets } from "./assets.ts";
import type { Env } from "../../http/env.ts";
import type { Person, Visit } from "../../http/visit.ts";
import { bodyText } from "../../middleware/body_text.ts";
import { readForm } from "./read_form.ts";
import { randomBase64url } from "../../../lib/core/base64url.ts";

/** The cookie of the reader's theme. */
export const THEME_COOKIE = "cubby_theme";

/** Sets the visit. Errors: `csrf_refused` for a change that another site asks for, `meter_unreachable`. */
export function visiting(deps: AppDeps, assets: Assets): MiddlewareHandler<Env> {
  return async (c, next) => {
    const changes = isChange(c);
    const { baseUrl } = deps;
    // Also the page that says that nobody can be let in is one for this visit.
    const stranger = visitOf(c, { deps, assets, person: null });
    c.set("visit", stranger);
    // All of a form comes first: whoever has begun to send it may have no session any more at its end.
    if (changes) await bodyText(c).catch(() => {});
    const isOwn = isOwnOrigin(c.req.header("origin"), { baseUrl, host: new URL(c.req.url).host });
    if (changes && !isOwn) throw new AppError("csrf_refused");
    const cookie = sessionCookie(c, baseUrl);
    const signedIn = cookie === undefined ? null : await authenticateSession(deps, cookie, { now: changes });
    if (signedIn !== null) {
      c.set("caller", signedIn.caller);
      c.set("visit", { ...stranger, person: await personOf(deps, signedIn) });
    }
    await next();
  };
}

/**
 * For all that is done by the session that a browser has: a change carries its word. A sign-in does not use that session,
 * and its page may have been opened before. Errors: `csrf_refused`.
 */
export function sessionWord(): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { person } = c.get("visit");
    if (person !== null && isChange(c)) {
      const word = c.req.header("x-csrf-token") ?? (await readForm(c)).exact("csrf");
      if (!isCsrfToken({ csrfToken: person.csrf }, word)) throw new AppError("csrf_refused");
    }
    await next();
  };
}

/** Lets the session of a request in once more. Errors: `session_ended`, `meter_unreachable`. */
export async function readmitSession(deps: AppDeps, c: Context<Env>): Promise<void> {
  const cookie = sessionCookie(c, deps.baseUrl) ?? "";
  if (await authenticateSession(deps, cookie, { now: false }) === null) throw new AppError("session_ended");
}

function isChange(c: Context<Env>): boolean {
  return !["GET", "HEAD"].includes(c.req.method);
}

interface VisitParts {
  readonly deps: AppDeps;
  readonly assets: Assets;
  readonly person: Person | null;
}

function visitOf(c: Context<Env>, { deps, assets, person }: VisitParts): Visit {
  const { pathname, search } = new URL(c.req.url);
  const theme = getCookie(c, THEME_COOKIE);
  return {
    nonce: randomBase64url(16),
    assets,
    theme: theme === "light" || theme === "dark" ? theme : null,
    now: deps.clock.now(),
    here: pathname + search,
    person,
    railOf: (namespaceSlug) =>
      glanceAt({ ...manageContext(deps, c), approvals: deps.query.approvals }, namespaceSlug),
    proofs: () => listProofs(accountContext(deps, c)),
  };
}

async function personOf(deps: AppDeps, { caller, csrfToken }: SignedIn): Promise<Person> {
  if (caller.kind === "operator") {
    return { caller, csrf: csrfToken, name: "Operator", detail: "signed in with the key" };
  }
  const member = await deps.control.members.byId(caller.namespaceId, caller.memberId);
  const name = member?.name ?? caller.email;
  const detail = name === caller.email ? `${caller.role} of ${caller.namespaceSlug}` : caller.email;
  return { caller, csrf: csrfToken, name, detail };
}

/**
 * For pages of people who are signed in. Errors: `session_ended`, which leads to the sign-in and back.
 */
export function signedInOnly(): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (c.get("visit").person === null) throw new AppError("session_ended");
    await next();
  };
}

/** The caller of a page that only people see who are signed in. Errors: `session_ended`. */
export function personCaller(c: Context<Env>): PersonCaller {
  const person = c.get("visit").person;
  if (person === null) throw new AppError("session_ended");
  return person.caller;
}
