// What a file imports, read from its syntax tree: types and dynamic imports included.
import { repository, type SourceFile } from "./source_files.ts";

/** One import. `path` is null for what lies outside the repository. */
export interface FileImport {
  readonly specifier: string;
  readonly path: string | null;
}

/** The import map of deno.json. */
export type ImportMap = Readonly<Record<string, string>>;

/** In the order of the file. Works in `deno test` only: the syntax tree comes from `Deno.lint`. */
export function fileImports(file: Pick<SourceFile, "url" | "text">, importMap: ImportMap): FileImport[] {
  return Deno.lint.runPlugin(importReader, file.url.pathname, file.text).map(({ message }) => {
    const target = importMap[message] ?? message;
    const base = target === message ? file.url : repository;
    const local = /^\.{0,2}\//.test(target) ? new URL(target, base).href : "";
    const path = local.startsWith(repository.href) ? local.slice(repository.href.length) : null;
    return { specifier: message, path };
  });
}

/** Folders, and the others that files of each import from. */
export function folderGraph(
  files: readonly { readonly path: string; readonly imports: readonly FileImport[] }[],
): Map<string, string[]> {
  const graph = new Map<string, string[]>();
  for (const { path, imports } of files) {
    const from = folderOf(path);
    const others = imports.flatMap((one) => one.path === null ? [] : folderOf(one.path))
      .filter((folder) => folder !== from);
    graph.set(from, [...new Set([...graph.get(from) ?? [], ...others])]);
  }
  return graph;
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** Reports each specifier as a finding. */
const importReader: Deno.lint.Plugin = {
  name: "architecture",
  rules: {
    imports: {
      create(context) {
        const read = (node: Deno.lint.Node & { source?: Deno.lint.Node | null }) => {
          const { source } = node;
          if (!source) return;
          const isText = source.type === "Literal" && typeof source.value === "string";
          context.report({ node, message: isText ? String(source.value) : "a computed import" });
        };
        return {
          ImportDeclaration: read,
          ExportAllDeclaration: read,
          ExportNamedDeclaration: read,
          ImportExpression: read,
          TSImportType(node) {
            context.report({ node, message: "import() of a type" });
          },
        };
      },
    },
  },
};
