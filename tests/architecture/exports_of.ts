// Exported declarations of a file, and whether a doc comment stands right above each.
import type { SourceFile } from "./source_files.ts";

export interface Exported {
  /** `path: name`. */
  readonly name: string;
  readonly documented: boolean;
}

const EXPORT = /^export (?:async |abstract )*(?:function\*?|const|let|class|interface|type) (\w+)/;

/** In the order of the file. The formatter writes every declaration at the beginning of a line. */
export function exportsOf({ path, text }: Pick<SourceFile, "path" | "text">): Exported[] {
  const lines = text.split("\n");
  return lines.flatMap((line, index) => {
    const name = EXPORT.exec(line)?.[1];
    if (name === undefined) return [];
    return [{ name: `${path}: ${name}`, documented: lines[index - 1]?.trimEnd().endsWith("*/") ?? false }];
  });
}
