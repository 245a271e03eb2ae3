// The documentation: /docs, its search, every page as HTML and as Markdown, a viewer of the API, and /llms.txt.
import { type Context, Hono } from "hono";
import { etag } from "hono/etag";
import { nearMatches } from "../../lib/sql/hints.ts";
import type { Env } from "../http/env.ts";
import { findAsset } from "./assets.ts";
import { DocSearch } from "./doc_search.ts";
import { Library } from "./library.ts";
import { llmsText } from "./llms_text.ts";
import { docPages, findPage } from "./pages.ts";
import { apiView, contentsView, missingView, pageView, searchView } from "./views.ts";

/** Characters of a question that anybody may ask of the search. */
const MAX_QUESTION = 100;

/**
 * A page runs and loads what the service itself serves under `/docs`, and speaks to nobody else. What tenants publish
 * under `/p` is no script: it is sent as JSON or TypeScript, and never sniffed.
 */
const PAGE_HEADERS = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
} as const;
/** Of what changes with a new version of the service only. */
const BRIEFLY = "public, max-age=60";
const FOR_GOOD = "public, max-age=31536000, immutable";
const MARKDOWN = "text/markdown; charset=utf-8";

/** At the root. `baseUrl` is what examples call. */
export function docsRoutes({ baseUrl }: { readonly baseUrl: string }): Hono<Env> {
  const library = new Library(baseUrl);
  let search: Promise<DocSearch> | null = null;
  const startSearch = async () => new DocSearch(await library.readAll());
  return new Hono<Env>()
    .use("/docs/*", etag())
    .get("/docs", async (c) => {
      const question = (c.req.query("q") ?? "").trim().slice(0, MAX_QUESTION);
      if (question === "") return await sendPage(c, contentsView());
      const hits = (await (search ??= startSearch())).search(question);
      return await sendPage(c, searchView(question, hits));
    })
    .get("/docs/api", async (c) => await sendPage(c, apiView()))
    .get("/docs/assets/:name", async (c) => {
      const asset = await findAsset(c.req.param("name"));
      if (!asset) return await sendMissing(c, "");
      const isPinned = c.req.query("v") === asset.version;
      return c.body(asset.body, 200, {
        "Content-Type": asset.type,
        "Cache-Control": isPinned ? FOR_GOOD : BRIEFLY,
        "ETag": `"${asset.version}"`,
      });
    })
    .get("/docs/:page", async (c) => {
      const name = c.req.param("page");
      const asMarkdown = name.endsWith(".md");
      const slug = asMarkdown ? name.slice(0, -3) : name;
      const page = findPage(slug);
      if (!page) return await sendMissing(c, slug);
      const read = await library.read(page);
      if (!asMarkdown) return await sendPage(c, pageView(read));
      return c.body(read.markdown, 200, { "Content-Type": MARKDOWN, "Cache-Control": BRIEFLY });
    })
    .get(
      "/llms.txt",
      etag(),
      (c) => c.body(llmsText(baseUrl), 200, { "Content-Type": MARKDOWN, "Cache-Control": BRIEFLY }),
    );
}

async function sendPage(
  c: Context<Env>,
  view: ReturnType<typeof contentsView>,
  status: 200 | 404 = 200,
): Promise<Response> {
  return c.html(await view, status, {
    ...PAGE_HEADERS,
    "Cache-Control": status === 200 ? BRIEFLY : "no-store",
  });
}

/** Says which pages may have been meant. */
async function sendMissing(c: Context<Env>, slug: string): Promise<Response> {
  const near = nearMatches(slug, docPages.map((page) => page.slug));
  return await sendPage(c, missingView(near.flatMap((one) => findPage(one) ?? [])), 404);
}
