// What every page of the documentation has around its text.
import { html, raw } from "hono/html";
import { assetPath } from "./assets.ts";
import { docPages } from "./pages.ts";
import type { Heading } from "./render_page.ts";

/** A piece of HTML in which values are escaped. */
export type View = ReturnType<typeof html>;

/** What differs from page to page. */
export interface LayoutParts {
  /** Empty for the contents. */
  readonly title: string;
  /** One sentence for search engines and previews. */
  readonly about: string;
  readonly main: View;
  /** Address of the page that is shown, to mark it in the contents. */
  readonly path: string;
  /** Headings of the page. */
  readonly headings?: readonly Heading[];
  /** What was searched for. */
  readonly question?: string;
  /** Names of further assets. */
  readonly styles?: readonly string[];
  readonly scripts?: readonly string[];
}

/** A whole document. It needs no script: `docs.js` adds buttons that copy and hits while one types. */
export async function layout(parts: LayoutParts): Promise<View> {
  const { title, about, main, path, headings = [], question = "" } = parts;
  const styles = await Promise.all(["docs.css", ...parts.styles ?? []].map(assetPath));
  const scripts = await Promise.all(["docs.js", ...parts.scripts ?? []].map(assetPath));
  const shown = headings.filter(({ depth }) => depth <= 3);
  return html`
    <!DOCTYPE html>
    <html lang="en">
      <head>
    <meta charset="utf-8">
    <title>${title === "" ? "Cubby documentation" : `${title} · Cubby`}</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="description" content="${about}">
    <meta name="color-scheme" content="light dark">
    <link rel="icon" href="${await assetPath("icon.svg")}" type="image/svg+xml">
    ${styles.map((href) => html`<link rel="stylesheet" href="${href}">`)}
    ${scripts.map((src) => html`<script src="${src}" defer></script>`)}
      </head>
      <body>
        <a class="skip" href="#content">Skip to the text</a>
        <header class="top">
          <button class="menu" popovertarget="contents" aria-label="Contents">${raw(MENU_ICON)}</button>
          <a class="brand" href="/docs">${raw(BRAND_ICON)}Cubby <span>docs</span></a>
          <form action="/docs" role="search">
            <input type="search" name="q" value="${question}" maxlength="100" placeholder="Search"
              aria-label="Search the documentation" autocomplete="off">
          </form>
          <a class="to-api" href="/docs/api">Try the API</a>
          <a class="to-api" href="/console">Console</a>
        </header>
        <div class="columns">
    <nav id="contents" popover aria-label="Contents">${contents(path)}</nav>
    <main id="content" tabindex="-1">${main}</main>
    ${shown.length < 2
      ? ""
      : html`<nav class="toc" aria-labelledby="toc-title"><h2 id="toc-title">On this page</h2>${
        onThisPage(shown)
      }</nav>`}
        </div>
      </body>
    </html>
  `;
}

/** Every page by its group. */
function contents(path: string): View {
  const groups = Map.groupBy(docPages, (page) => page.group);
  return html`${
    [...groups].map(([group, pages]) =>
      html`
        <h2>${group}</h2>
        <ul>${pages.map(({ slug, title }) => entry(`/docs/${slug}`, title, path))}${group === "Reference"
          ? entry("/docs/api", "Try the API", path)
          : ""}</ul>
      `
    )
  }`;
}

function entry(href: string, title: string, path: string): View {
  return html`<li><a href="${href}"${href === path ? raw(' aria-current="page"') : ""}>${title}</a></li>`;
}

/** Links to the headings of the page. */
export function onThisPage(headings: readonly Heading[]): View {
  return html`<ul>${
    headings.map(({ id, text, depth }) => html`<li class="depth-${depth}"><a href="#${id}">${text}</a></li>`)
  }</ul>`;
}

const BRAND_ICON =
  '<svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true"><path d="M3 2.5h14A1.5 1.5 0 0 1 18.5 4v12a1.5 1.5 0 0 1-1.5 1.5H3A1.5 1.5 0 0 1 1.5 16V4A1.5 1.5 0 0 1 3 2.5Zm.5 2v4.25h5.75V4.5Zm7.75 0v4.25h5.25V4.5Zm-7.75 6.25v4.75h13v-4.75Z"/></svg>';
const MENU_ICON =
  '<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true"><path d="M2 4h14v1.5H2Zm0 4.25h14v1.5H2Zm0 4.25h14V14H2Z"/></svg>';
