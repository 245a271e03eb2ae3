// README and the pages of the documentation as files, for tests that read them.
import { assert } from "@std/assert";
import { repository } from "../architecture/source_files.ts";

export interface DocFile {
  /** From the top of the repository. */
  readonly path: string;
  readonly text: string;
}

export interface Block {
  readonly language: string;
  /** Why tests do not run it, as its readers see it; null where they do. */
  readonly needs: string | null;
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

/** README first, then the pages by name. */
export async function docFiles(): Promise<DocFile[]> {
  const paths = ["README.md"];
  for await (const { name } of Deno.readDir(new URL("routes/docs/", repository))) {
    if (name.endsWith(".md")) paths.push(`routes/docs/${name}`);
  }
  return await Promise.all(paths.sort().map(docFile));
}

export async function docFile(path: string): Promise<DocFile> {
  return { path, text: await Deno.readTextFile(new URL(path, repository)) };
}

/** Cells of the first table under a heading, without the table's own head. */
export function tableUnder({ path, text }: DocFile, heading: string): string[][] {
  const lines = text.split("\n");
  const section = lines.slice(lines.indexOf(heading) + 1);
  const start = section.findIndex((line) => line.startsWith("|"));
  assert(lines.includes(heading) && start >= 0, `${path} has no table under ${heading}`);
  const length = section.slice(start).findIndex((line) => !line.startsWith("|"));
  return section.slice(start, length < 0 ? undefined : start + length).slice(2).map(cells);
}

/** `\|` is a bar inside a cell. */
function cells(line: string): string[] {
  return line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** What stands between fences, in order; those inside of a list too. */
export function blocksOf({ text }: DocFile): Block[] {
  return [...text.matchAll(/^( *)```([^\n]*)\n([^]*?)^\1```$/gm)].map((found) => {
    const [, indent = "", info = "", body = ""] = found;
    return {
      language: info.split(" ")[0] ?? "",
      needs: /needs="([^"]+)"/.exec(info)?.[1] ?? null,
      text: body.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
      line: text.slice(0, found.index).split("\n").length,
    };
  });
}

/** The text without what stands between fences. */
export function prose({ text }: DocFile): string {
  return text.replace(/^( *)```[^]*?^\1```$/gm, "");
}

/** Headings of `http-api.md` with a table of calls → what their paths begin with. */
export const apiTables: Readonly<Record<string, string>> = {
  "## Databases": "/v1/db/:ns/:db",
  "## Tokens and sessions": "",
  "## Namespaces": "/api/namespaces",
  "## The whole service": "/api",
  "## Metrics": "",
  "## Your own account": "/api/me",
  "## Rules and endpoints": "/api/namespaces/:slug/databases/:dbSlug",
  "## Without a bearer": "",
};
