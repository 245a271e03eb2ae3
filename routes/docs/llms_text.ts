// /llms.txt: what an agent reads first. Every page is named with the address of its Markdown.
import { docPages } from "./pages.ts";

/** In the form of llmstxt.org. */
export function llmsText(baseUrl: string): string {
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
