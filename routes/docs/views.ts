// The kinds of page that the documentation has: a text, the contents, hits of a search, the API, and nothing.
import { html, raw } from "hono/html";
import type { DocHit } from "./doc_search.ts";
import { layout, onThisPage, type View } from "./layout.ts";
import type { ReadPage } from "./library.ts";
import type { DocPage } from "./doc_page.ts";
import { docPages } from "./pages.ts";

/** A page of text, with the pages before and after it. */
export async function pageView({ page, html: text, headings }: ReadPage): Promise<View> {
  const index = docPages.indexOf(page);
  const beside = [["Before", docPages[index - 1]], ["Next", docPages[index + 1]]] as const;
  const shown = headings.filter(({ depth }) => depth <= 3);
  const main = html`<article>
<p class="crumb">${page.group}</p>
${
    shown.length < 2
      ? ""
      : html`<details class="toc-small"><summary>On this page</summary>${onThisPage(shown)}</details>`
  }
${raw(text)}
</article>
<nav class="beside" aria-label="Pages before and after">${
    beside.map(([word, one]) =>
      one
        ? html`<a class="${word.toLowerCase()}" href="/docs/${one.slug}"><span>${word}</span>${one.title}</a>`
        : ""
    )
  }</nav>
<p class="source">This page as <a href="/docs/${page.slug}.md">Markdown</a></p>`;
  return await layout({ title: page.title, about: page.about, main, headings, path: `/docs/${page.slug}` });
}

/** Every page with what it is about. */
export async function contentsView(): Promise<View> {
  const groups = Map.groupBy(docPages, (page) => page.group);
  const main = html`<article class="front">
<h1>Cubby documentation</h1>
<p class="lead">A SQL database service that is safe to hand to an app or to an AI agent.</p>
${[...groups].map(([group, pages]) => html`<h2 id="${group.toLowerCase()}">${group}</h2>${cards(pages)}`)}
<h2 id="agents">Read by a program?</h2>
<p><a href="/llms.txt">/llms.txt</a> names every page as Markdown; <a href="/openapi.json">/openapi.json</a> describes
every call; <a href="/docs/api">the API page</a> makes them.</p>
</article>`;
  return await layout({ title: "", about: "Guides, reference and design of Cubby", main, path: "/docs" });
}

/** What a search found. */
export async function searchView(question: string, hits: readonly DocHit[]): Promise<View> {
  const main = html`<article>
<h1>Search</h1>
<p role="status">${
    hits.length === 0 ? "Nothing was" : hits.length === 1 ? "One section was" : `${hits.length} sections were`
  } found for “${question}”.</p>
<ol class="hits">${hits.map(hitView)}</ol>
${
    hits.length === 0
      ? html`<p>Try fewer or other words, or look at <a href="/docs">the contents</a>.</p>`
      : ""
  }
</article>`;
  return await layout({
    title: "Search",
    about: "Search the documentation",
    main,
    question,
    path: "/docs?q=",
  });
}

/** The API description with a form for every call. */
export async function apiView(): Promise<View> {
  const main = html`
    <article class="api">
      <h1>Try the API</h1>
      <p>Every call of this service, from its <a href="/openapi.json">OpenAPI document</a>. Choose “Authorize” and enter an API
        token or the operator key; it stays in this page and goes with the calls that you make here, to this service only.
        <a href="/docs/http-api">The HTTP API</a> says the same in words.</p>
      <noscript><p class="notice">This viewer needs JavaScript. <a href="/docs/http-api">The HTTP API</a> does not.</p></noscript>
      <h2 id="calls">Calls</h2>
      <div id="api" data-document="/openapi.json"></div>
    </article>
  `;
  return await layout({
    title: "Try the API",
    about: "Every call of the API, with a form to make it",
    main,
    path: "/docs/api",
    styles: ["swagger-ui.css", "api.css"],
    scripts: ["swagger-ui.js", "api.js"],
  });
}

/** `near`: pages that may have been meant. */
export async function missingView(near: readonly DocPage[]): Promise<View> {
  const main = html`<article>
<h1>There is no such page</h1>
${near.length === 0 ? "" : html`<p>Did you mean:</p>${cards(near)}`}
<p>All pages are listed in <a href="/docs">the contents</a>.</p>
</article>`;
  return await layout({ title: "Not found", about: "There is no such page", main, path: "" });
}

function cards(pages: readonly DocPage[]): View {
  return html`<ul class="cards">${
    pages.map(({ slug, title, about }) => html`<li><a href="/docs/${slug}">${title}</a><p>${about}</p></li>`)
  }</ul>`;
}

function hitView({ href, title, heading, excerpt }: DocHit): View {
  return html`<li><a href="${href}">${title}${
    heading === null ? "" : html`
      <span>›</span> ${heading}
    `
  }</a><p>${excerpt.map(({ text, found }) => found ? html`<mark>${text}</mark>` : text)}</p></li>`;
}
