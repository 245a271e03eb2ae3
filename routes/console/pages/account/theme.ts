// /console/-/theme: light, dark, or as the system says; a cookie of the browser remembers it.
import { Hono } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { ownPath } from "../../frame/own_path.ts";
import { readForm } from "../../frame/read_form.ts";
import { THEME_COOKIE } from "../../frame/session.ts";

const YEAR_SEC = 365 * 86_400;

/** Mounted under `/console`. */
export function themeRoutes({ baseUrl }: AppDeps): Hono<Env> {
  const options = {
    path: "/console",
    httpOnly: true,
    sameSite: "Lax",
    secure: baseUrl.startsWith("https:"),
  } as const;
  return new Hono<Env>().post("/-/theme", async (c) => {
    const fields = await readForm(c);
    const theme = fields.text("theme");
    if (theme === "light" || theme === "dark") {
      setCookie(c, THEME_COOKIE, theme, { ...options, maxAge: YEAR_SEC });
    } else deleteCookie(c, THEME_COOKIE, options);
    return c.redirect(ownPath(fields.exact("back")), 303);
  });
}
