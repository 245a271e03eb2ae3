// What every page has around its content, and the one way to answer with a page.
import type { Context } from "hono";
import { html } from "hono/html";
import type { Child } from "hono/jsx";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Env } from "../../http/env.ts";
import type { Visit } from "../../http/visit.ts";
import type { Problem } from "./attempt.ts";
import { inPieces } from "./in_pieces.ts";
import { Brand } from "../parts/brand.tsx";
import { mayManage } from "./may_manage.ts";
import { DbHead } from "../parts/db_head.tsx";
import type { Html } from "../parts/html.ts";
import { Icon } from "../parts/icon.tsx";
import { Avatar } from "../parts/person.tsx";
import { Rail, type RailEntry } from "../parts/rail.tsx";
import { type TabName, Tabs } from "../parts/tabs.tsx";

/** What differs from page to page. */
export interface PageParts {
  /** Of the window; " · Cubby" is added. */
  readonly title: string;
  /** The slug of the namespace that the page belongs to: its rail is shown. */
  readonly namespace?: string;
  /** What is marked in the rail. */
  readonly active?: RailEntry;
  /** A page of a database has its head and tabs, and its content reaches the edges. */
  readonly database?: DatabaseParts;
  /** Names of scripts of `browser/`, beside those of every page. */
  readonly scripts?: readonly string[];
  /** The page swaps pieces of itself: it gets htmx. */
  readonly swaps?: boolean;
  /** Further tags of the head, such as an import map. */
  readonly head?: Child;
  readonly status?: ContentfulStatusCode | undefined;
  /** The form that is back: its problem says the status. */
  readonly returned?: { readonly problem: Problem } | null | undefined;
  /** In the middle by itself also for somebody who is signed in. */
  readonly alone?: boolean;
}

/** The database of a page. */
export interface DatabaseParts {
  /** As in the address: `shop` or `shop@pr-42`. */
  readonly path: string;
  readonly tab: TabName;
  readonly counts?: Readonly<Partial<Record<TabName, number>>>;
  /** The content has no margins of its own making: an editor beside a list. */
  readonly full?: boolean;
}

/** Answers with a page: with a rail for whoever is signed in; alone in the middle for everybody else, or where it asks so. */
export async function renderPage(c: Context<Env>, parts: PageParts, body: Child): Promise<Response> {
  const visit = c.get("visit");
  const content = visit.person === null || parts.alone
    ? <Alone>{body}</Alone>
    : <Shell visit={visit} parts={parts}>{body}</Shell>;
  return sendHtml(
    c,
    html`<!doctype html>${await wholePage(visit, parts, content)}`,
    parts.status ?? parts.returned?.problem.status,
  );
}

/** Answers with a piece of a page, or with all of it. */
export async function sendHtml(
  c: Context<Env>,
  content: Html,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  // What holds parts that wait for something has a text only later, whatever its type says.
  const text = await (await content).toString();
  return c.body(inPieces(text), status, { "content-type": "text/html; charset=UTF-8" });
}

function wholePage(
  visit: Visit,
  { title, scripts = [], swaps = false, head }: PageParts,
  content: Html,
): Html {
  const { assets, nonce, theme } = visit;
  const loaded = assets.scripted ? ["start.ts", ...scripts] : [];
  return (
    <html lang="en" data-theme={theme ?? undefined}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · Cubby`}</title>
        <link rel="icon" href={`${assets.prefix}icon.svg`} type="image/svg+xml" />
        <link rel="stylesheet" href={`${assets.prefix}console.css`} />
        <link rel="preload" href={`${assets.prefix}geist.woff2`} as="font" type="font/woff2" crossorigin="" />
        {head ?? null}
        {swaps ? <meta name="htmx-config" content={HTMX} /> : null}
        {swaps ? <script src={`${assets.prefix}htmx.js`} nonce={nonce} defer /> : null}
        {assets.scripted
          ? shared.map((name) => <link rel="modulepreload" href={assets.prefix + name} nonce={nonce} />)
          : null}
        {loaded.map((name) => <script type="module" src={assets.prefix + name} nonce={nonce} />)}
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        {content}
      </body>
    </html>
  );
}

/** What `start.ts` imports: asked for with it, not behind it. */
const shared = ["copy.ts", "times.ts"];

/**
 * It would add a style of its own, which the policy refuses, and write into the tab's history, where the editor keeps its
 * text; what a swap brings has no address.
 */
const HTMX = JSON.stringify({ includeIndicatorCSS: false, history: false });

function Alone({ children }: { children?: Child }): Html {
  return (
    <main class="alone" id="content" tabindex={-1}>
      <Brand />
      {children}
    </main>
  );
}

function Shell({ visit, parts, children }: { visit: Visit; parts: PageParts; children?: Child }): Html {
  const { namespace, active, database } = parts;
  return (
    <div class="shell">
      <header class="topbar">
        <button class="icon-button" type="button" popovertarget="rail" aria-label="Menu">
          <Icon name="menu" />
        </button>
        <Brand />
        <a href="/console/-/account">
          <Avatar name={visit.person?.name ?? ""} />
          <span class="unseen">Your account</span>
        </a>
      </header>
      <Rail visit={visit} namespace={namespace} active={active ?? (database ? "Databases" : undefined)} />
      {namespace === undefined || database === undefined
        ? <main class="page" id="content" tabindex={-1}>{children}</main>
        : (
          <main id="content" tabindex={-1}>
            <DbHead namespace={namespace} database={database.path} />
            <Tabs
              namespace={namespace}
              database={database.path}
              active={database.tab}
              manages={mayManage(visit, namespace)}
              counts={database.counts ?? {}}
            />
            {database.full ? children : <div class="page">{children}</div>}
          </main>
        )}
    </div>
  );
}
