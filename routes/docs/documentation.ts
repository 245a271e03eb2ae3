// What answers requests for the documentation. Loaded at the first of them: nobody else pays for it.
import type { Context } from "hono";
import { once } from "../../lib/core/once.ts";
import { nearMatches } from "../../lib/sql/hints/hints.ts";
import type { Env } from "../http/env.ts";
import { findAsset } from "./assets.ts";
import { DocSearch } from "./doc_search.ts";
import type { View } from "./layout.ts";
import { Library } from "./library.ts";
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

type Answer = Promise<Response>;

/** The pages, their search, the viewer of the API and the files that they load, as answers. */
export class Documentation {
  readonly #baseUrl: string;
  readonly #library: Library;
  readonly #search = once(async () => await DocSearch.of(await this.#library.readAll()));

  /** `baseUrl` is what examples call. */
  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
    this.#library = new Library(baseUrl);
  }

  /** The contents, or what a question finds. */
  async contents(c: Context<Env>): Answer {
    const question = (c.req.query("q") ?? "").trim().slice(0, MAX_QUESTION);
    if (question === "") return await sendPage(c, contentsView());
    const hits = (await this.#search()).search(question);
    return await sendPage(c, searchView(question, hits));
  }

  /** One page, as HTML or, behind `.md`, as it was written. */
  async page(c: Context<Env, "/docs/:page">): Answer {
    const name = c.req.param("page");
    const asMarkdown = name.endsWith(".md");
    const slug = asMarkdown ? name.slice(0, -3) : name;
    const page = findPage(slug);
    if (!page) return await sendMissing(c, slug);
    const read = await this.#library.read(page);
    if (!asMarkdown) return await sendPage(c, pageView(read));
    return c.body(read.markdown, 200, { "Content-Type": MARKDOWN, "Cache-Control": BRIEFLY });
  }

  /** The viewer of the API. */
  async api(c: Context<Env>): Answer {
    return await sendPage(c, apiView());
  }

  async asset(c: Context<Env, "/docs/assets/:name">): Answer {
    const asset = await findAsset(c.req.param("name"));
    if (!asset) return await sendMissing(c, "");
    return c.body(asset.body, 200, {
      "Content-Type": asset.type,
      "Cache-Control": c.req.query("v") === asset.version ? FOR_GOOD : BRIEFLY,
      "ETag": `"${asset.version}"`,
    });
  }

  llms(c: Context<Env>): Response {
    return c.body(llmsText(this.#baseUrl), 200, { "Content-Type": MARKDOWN, "Cache-Control": BRIEFLY });
  }
}

async function sendPage(c: Context<Env>, view: Promise<View>, status: 200 | 404 = 200): Answer {
  return c.html(await view, status, {
    ...PAGE_HEADERS,
    "Cache-Control": status === 200 ? BRIEFLY : "no-store",
  });
}

/** Says which pages may have been meant. */
async function sendMissing(c: Context<Env>, slug: string): Answer {
  const near = nearMatches(slug, docPages.map((page) => page.slug));
  return await sendPage(c, missingView(near.flatMap((one) => findPage(one) ?? [])), 404);
}

/** In the form of llmstxt.org. */
function llmsText(baseUrl: string): string {
  const groups = Map.groupBy(docPages, (page) => page.group);
  const lists = [...groups].map(([group, pages]) =>
    `## ${group}\n\n${
      pages.map(({ slug, title, about }) => `- [${title}](${baseUrl}/docs/${slug}.md): ${about}`).join("\n")
    }\n`
  );
  return [
    "# Cubby\n",
    "> A SQL database service that is safe to hand to an app or to an AI agent: SQLite databases over HTTP.\n",
    `Every call of the API is described in [OpenAPI 3.1](${baseUrl}/openapi.json). What one database publishes stands in ` +
    `${baseUrl}/p/<namespace>/<database>/.well-known/endpoints.json.\n`,
    ...lists,
  ].join("\n");
}
