// Headers of every page of the console: what the browser may load and run, and who may look inside.
import type { MiddlewareHandler } from "hono";
import type { Env } from "../../http/env.ts";
import type { Visit } from "../../http/visit.ts";

/**
 * The policy of one answer. Scripts run by the answer's own nonce and never because of where they come from: published
 * endpoints answer with text of tenants on this origin. `formTarget`: where the answer to a form may lead besides.
 */
function contentPolicy(nonce: string, formTarget = ""): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src 'self' 'nonce-${nonce}'`,
    ...["img-src", "font-src", "connect-src"].map((name) => `${name} 'self'`),
    `form-action 'self' ${formTarget}`.trim(),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** A year, without what a domain's other hosts may not want. */
const STRICT_TRANSPORT = "max-age=31536000";

/** Adds the headers. `secure`: the console is reached over https. */
export function pageHeaders({ secure }: { readonly secure: boolean }): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next();
    const { headers } = c.res;
    // Without a visit nobody knew yet who asks when the request failed: that answer is a line of text with a policy of its own.
    const visit: Visit | undefined = c.get("visit");
    // Behind a proof the answer is another request's, which has its own nonce in its page.
    if (visit !== undefined && !headers.has("Content-Security-Policy")) {
      headers.set("Content-Security-Policy", contentPolicy(visit.nonce, c.get("formTarget")));
    }
    headers.set("X-Frame-Options", "DENY");
    // A client that has opened the page whose form leads back to it waits for its own window there.
    const leadsOut = c.get("formTarget") !== undefined;
    headers.set("Cross-Origin-Opener-Policy", leadsOut ? "unsafe-none" : "same-origin");
    headers.set("Cross-Origin-Resource-Policy", "same-origin");
    // With `no-referrer` forms would say that their origin is null.
    headers.set("Referrer-Policy", "same-origin");
    if (secure) headers.set("Strict-Transport-Security", STRICT_TRANSPORT);
    if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
  };
}
