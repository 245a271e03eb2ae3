// The cookie of a session of the console: its name, and how it is read, set and taken away.
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { CookieOptions } from "hono/utils/cookie";
import type { Env } from "./env.ts";

/** Where `BASE_URL` is https, browsers hold the cookie to this very host and to TLS by its name. */
const SECURE_NAME = "__Host-cubby";
const PLAIN_NAME = "cubby";

/** The cookie's value; undefined without one. */
export function sessionCookie(c: Context<Env>, baseUrl: string): string | undefined {
  return getCookie(c, sessionCookieName(baseUrl));
}

/** Gives the browser its session. */
export function setSessionCookie(
  c: Context<Env>,
  baseUrl: string,
  { secret, maxAgeSec }: { readonly secret: string; readonly maxAgeSec: number },
): void {
  setCookie(c, sessionCookieName(baseUrl), secret, { ...optionsFor(baseUrl), maxAge: maxAgeSec });
}

/** Takes it away. */
export function dropSessionCookie(c: Context<Env>, baseUrl: string): void {
  deleteCookie(c, sessionCookieName(baseUrl), optionsFor(baseUrl));
}

/** The cookie's name. */
export function sessionCookieName(baseUrl: string): string {
  return isSecure(baseUrl) ? SECURE_NAME : PLAIN_NAME;
}

/** Lax, not Strict: a link from a chat to an approval has to find the session. */
function optionsFor(baseUrl: string): CookieOptions {
  return { path: "/", httpOnly: true, sameSite: "Lax", secure: isSecure(baseUrl) };
}

function isSecure(baseUrl: string): boolean {
  return baseUrl.startsWith("https:");
}
