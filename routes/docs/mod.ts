// The documentation: /docs, its search, every page as HTML and as Markdown, a viewer of the API, and /llms.txt.
import { Hono } from "hono";
import { etag } from "hono/etag";
import type { Env } from "../http/env.ts";
import type { Documentation } from "./documentation.ts";

/** At the root. `baseUrl` is what examples call. */
export function docsRoutes({ baseUrl }: { readonly baseUrl: string }): Hono<Env> {
  let opened: Promise<Documentation> | null = null;
  const open = async () => new (await import("./documentation.ts")).Documentation(baseUrl);
  const docs = () => opened ??= open();
  return new Hono<Env>()
    .use("/docs/*", etag())
    .get("/docs", async (c) => await (await docs()).contents(c))
    .get("/docs/api", async (c) => await (await docs()).api(c))
    .get("/docs/assets/:name", async (c) => await (await docs()).asset(c))
    .get("/docs/:page", async (c) => await (await docs()).page(c))
    .get("/llms.txt", etag(), async (c) => (await docs()).llms(c));
}
