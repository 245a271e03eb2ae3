// Exported declarations of a file, and whether a doc comment stands right above each.
import type { SourceFile } from "./source_files.ts";

export interface Exported {
  /** `path: name`. */
  readonly name: string;
  /** False: it is a type, which the signatures of its own file may need. */
  readonly isValue: boolean;
  readonly documented: boolean;
}

const EXPORT = /^export (?:async |abstract )*(function\*?|const|let|class|interface|type) (\w+)/;

/** In the order of the file. The formatter writes every declaration at the beginning of a line. */
export function exportsOf({ path, text }: Pick<SourceFile, "path" | "text">): Exported[] {
  const lines = text.split("\n");
  return lines.flatMap((line, index) => {
    const [, kind, name] = EXPORT.exec(line) ?? [];
    if (kind === undefined || name === undefined) return [];
    return [{
      name: `${path}: ${name}`,
      isValue: kind !== "interface" && kind !== "type",
      documented: lines[index - 1]?.trimEnd().endsWith("*/") ?? false,
    }];
  });
}
