// What a browser gets whose person has signed in.
import type { Context } from "hono";
import type { OpenedSession } from "../../../lib/services/people/open_person_session.ts";
import type { AppDeps } from "../../http/app_deps.ts";
import type { Env } from "../../http/env.ts";
import { setSessionCookie } from "../../http/session_cookie.ts";

/** Sets the cookie, for as long as the session can last. */
export function startSession(
  c: Context<Env>,
  { baseUrl, clock }: AppDeps,
  { secret, untilMs }: OpenedSession,
): void {
  const maxAgeSec = Math.max(1, Math.floor((untilMs - clock.now()) / 1000));
  setSessionCookie(c, baseUrl, { secret, maxAgeSec });
}
