// /console/-/sign-out: the session ends, and the browser forgets what it has seen.
import { Hono } from "hono";
import { signOut } from "../../../../lib/services/people/own_account.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { accountContext } from "../../../http/service_contexts.ts";
import { dropSessionCookie } from "../../../http/session_cookie.ts";

/** Mounted under `/console`. */
export function signOutRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>().post("/-/sign-out", async (c) => {
    const caller = c.get("caller");
    await signOut(accountContext(deps, c));
    dropSessionCookie(c, deps.baseUrl);
    c.header("Clear-Site-Data", '"cache"');
    // Who comes back finds the namespace filled in.
    const own = caller.kind === "member" ? `?ns=${caller.namespaceSlug}` : "";
    return c.redirect(`/console/-/sign-in${own}`, 303);
  });
}
