// The pages as the service serves them: each is read and rendered once, when somebody first asks for it. There are as
// many as the table of pages has, so what is held is bounded by it.
import { ownTurn } from "../../lib/core/own_turn.ts";
import type { DocPage } from "./doc_page.ts";
import { docPages } from "./pages.ts";
import { type RenderedPage, renderPage } from "./render_page.ts";

/** What the examples of the pages call; readers see the address of the service that they read. */
const EXAMPLE_ADDRESS = "http://127.0.0.1:8000";

/** A page that has been read and rendered. */
export interface ReadPage extends RenderedPage {
  readonly page: DocPage;
  readonly markdown: string;
}

/** Holds what has been read. */
export class Library {
  readonly #baseUrl: string;
  readonly #read = new Map<string, Promise<ReadPage>>();

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  /** The page as text and as HTML. */
  read(page: DocPage): Promise<ReadPage> {
    const found = this.#read.get(page.slug) ?? this.#render(page);
    this.#read.set(page.slug, found);
    return found;
  }

  /** Of them all it takes some tenths of a second, and anybody may ask: other work has its turn behind each. */
  async readAll(): Promise<ReadPage[]> {
    const pages: ReadPage[] = [];
    for (const page of docPages) {
      pages.push(await this.read(page));
      await ownTurn();
    }
    return pages;
  }

  async #render(page: DocPage): Promise<ReadPage> {
    const text = (await page.load()).default.replaceAll(EXAMPLE_ADDRESS, this.#baseUrl);
    const markdown = text.replace(/\]\(([^)\s]+)\)/g, (_, href) => `](${resolveLink(href, page.file)})`);
    return { page, markdown, ...renderPage(markdown) };
  }
}

/**
 * Where a link of a file leads on the service: to the page of the file that it names. A link to anything else of the
 * repository stays as it is, and a test finds it.
 */
function resolveLink(href: string, from: string): string {
  if (/^([a-z]+:|#|\/)/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const base = new URL(from, "file:///routes/docs/");
  const target = new URL(path, base).pathname;
  const page = docPages.find(({ file }) => new URL(file, "file:///routes/docs/").pathname === target);
  if (!page) return href;
  return `/docs/${page.slug}${anchor === undefined ? "" : `#${anchor}`}`;
}
