// Markdown of a page → HTML, its headings, and its text by section for the search.
import { Marked, type Token, type Tokens } from "marked";
import { colouredCode, escapeHtml } from "./coloured_code.ts";

/** A heading of a page. */
export interface Heading {
  /** 2 and up; the title of the page is no part of this. */
  readonly depth: number;
  readonly text: string;
  /** What comes behind `#` in its address. */
  readonly id: string;
}

/** What a page's Markdown gives. */
export interface RenderedPage {
  readonly html: string;
  readonly headings: readonly Heading[];
  /** What stands under each heading; the first is what stands under the title. */
  readonly sections: readonly { readonly heading: Heading | null; readonly text: string }[];
}

/** `markdown` is our own: what stands in it as HTML is shown as text all the same. */
export function renderPage(markdown: string): RenderedPage {
  const marked = new Marked({ gfm: true });
  const ids = headingIds();
  const headings: Heading[] = [];
  marked.use({
    // A bare address in the text is mostly a pattern; what is to be a link says so.
    tokenizer: { url: () => undefined },
    renderer: {
      heading({ tokens, depth }) {
        const text = plainText(tokens);
        const inside = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${inside}</h1>\n`;
        const id = ids(text);
        headings.push({ depth, text, id });
        return `<h${depth} id="${id}">${inside} <a class="anchor" href="#${id}" aria-label="${
          escapeHtml(`Link to “${text}”`)
        }">#</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(href)}">${this.parser.parseInline(tokens)}</a>`;
      },
      code: ({ text, lang }) => codeBlock(text, lang ?? ""),
      table(token) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          `<tr>${
            row.map(({ tokens }) => `<${tag}>${breakable(this.parser.parseInline(tokens))}</${tag}>`).join("")
          }</tr>`;
        const columns = token.header.map(({ tokens }) => plainText(tokens)).join(", ");
        const under = headings.at(-1)?.text;
        const label = escapeHtml(under === undefined ? columns : `${under}: ${columns}`);
        const head = cells(token.header, 'th scope="col"').replaceAll('</th scope="col">', "</th>");
        return `<div class="table" role="region" tabindex="0" aria-label="${label}"><table><thead>${head}</thead><tbody>${
          token.rows.map((row) => cells(row, "td")).join("")
        }</tbody></table></div>\n`;
      },
      html: ({ text }) => escapeHtml(text),
    },
  });
  const tokens = marked.lexer(markdown);
  const html = marked.parser(tokens);
  return { html, headings, sections: sectionsOf(tokens, headings) };
}

/** The words behind a block's language, as in `sh needs="a Turso account"`, say why tests do not run it. */
function codeBlock(text: string, info: string): string {
  const [language = ""] = info.split(" ");
  const needs = /needs="([^"]+)"/.exec(info)?.[1];
  const note = needs === undefined ? "" : `<figcaption>Needs ${escapeHtml(needs)}</figcaption>`;
  return `<figure class="code" data-language="${escapeHtml(language)}">${note}<pre tabindex="0"><code>${
    colouredCode(text, language)
  }</code></pre></figure>\n`;
}

/** Ids as GitHub makes them, so that links work there as well. */
function headingIds(): (text: string) => string {
  const used = new Map<string, number>();
  return (text) => {
    const id = text.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").trim().replace(/\s/g, "-");
    const count = used.get(id) ?? 0;
    used.set(id, count + 1);
    return count === 0 ? id : `${id}-${count}`;
  };
}

function sectionsOf(tokens: readonly Token[], headings: readonly Heading[]): RenderedPage["sections"] {
  const sections: { heading: Heading | null; text: string }[] = [{ heading: null, text: "" }];
  let next = 0;
  for (const token of tokens) {
    if (token.type === "heading" && token["depth"] > 1) {
      sections.push({ heading: headings[next] ?? null, text: "" });
      next += 1;
      continue;
    }
    const last = sections.at(-1);
    if (last && token.type !== "heading") last.text += ` ${plainText([token])}`;
  }
  return sections.map(({ heading, text }) => ({ heading, text: text.replace(/\s+/g, " ").trim() }));
}

/** What a reader sees of the tokens, without any mark-up. */
function plainText(tokens: readonly Token[]): string {
  return tokens.map((token): string => {
    if (token.type === "table") {
      const rows = [token["header"], ...token["rows"]] as Tokens.TableCell[][];
      return rows.flat().map((cell) => plainText(cell.tokens)).join(" ");
    }
    if (token.type === "list") return token["items"].map((item: Token) => plainText([item])).join(" ");
    if (token.type === "code") return ` ${token["text"]} `;
    if ("tokens" in token && token.tokens) return plainText(token.tokens);
    return "text" in token ? String(token.text) : " ";
  }).join("");
}

/** On a narrow screen code of a cell may break at these places; the style sheet decides whether it does. */
function breakable(cell: string): string {
  return cell.replace(/<code>[^<]*/g, (code) => code.replace(/(?<=\w)(?=\/)|(?<=[_.,=])(?=\w)/g, "<wbr>"));
}
