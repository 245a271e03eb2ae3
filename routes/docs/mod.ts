// The documentation: /docs, its search, every page as HTML and as Markdown, a viewer of the API, and /llms.txt. A
// browser that opens the bare address of the service is led there.
import { type Context, Hono, type Next } from "hono";
import { accepts } from "hono/accepts";
import { etag } from "hono/etag";
import { AppError } from "../../lib/core/errors.ts";
import { once } from "../../lib/core/once.ts";
import type { Env } from "../http/env.ts";
import { WHERE_TO_BEGIN } from "../middleware/not_found.ts";

/** At the root. `baseUrl` is what examples call. */
export function docsRoutes({ baseUrl }: { readonly baseUrl: string }): Hono<Env> {
  const docs = once(async () => new (await import("./documentation.ts")).Documentation(baseUrl));
  return new Hono<Env>()
    .get("/", leadToDocs)
    .use("/docs/*", withoutSlash, etag())
    .get("/docs", async (c) => await (await docs()).contents(c))
    .get("/docs/api", async (c) => await (await docs()).api(c))
    .get("/docs/assets/:name", async (c) => await (await docs()).asset(c))
    .get("/docs/:page", async (c) => await (await docs()).page(c))
    .get("/llms.txt", etag(), async (c) => (await docs()).llms(c));
}

/** A slash at the end leads to the address without: people type it, and other sites have it. */
async function withoutSlash(c: Context<Env>, next: Next): Promise<Response | void> {
  const { pathname, search } = new URL(c.req.url);
  if (c.req.method !== "GET" || !pathname.endsWith("/")) return await next();
  return c.redirect(pathname.slice(0, -1) + search, 301);
}

/** The address means nothing to a caller of the API. Errors: `not_found` unless the caller asks for HTML by name. */
function leadToDocs(c: Context<Env>): Response {
  const wanted = accepts(c, {
    header: "Accept",
    supports: ["text/html", "application/json"],
    default: "application/json",
  });
  c.header("Vary", "Accept");
  if (wanted === "text/html") return c.redirect("/docs");
  throw new AppError("not_found", { message: `Nothing is at this address; ${WHERE_TO_BEGIN}` });
}
