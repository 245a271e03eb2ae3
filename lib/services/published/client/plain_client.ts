// The client of a database without its types, for pages and programs that take JavaScript.
import { stripTypeScriptTypes } from "node:module";
import { MAX_ENDPOINT_CHARACTERS } from "../../../core/limits.ts";
import { TextMap } from "../../../core/text_map.ts";
import { writeClient } from "./client_source.ts";

/**
 * By their sources: strangers ask often, and a client changes only with its endpoints or the schema. A source is about as long as the
 * specifications of its endpoints.
 */
const cached = new TextMap<string>({ texts: 20, characters: 2 * MAX_ENDPOINT_CHARACTERS });

/** JavaScript of the client that `writeClient` writes. Errors: those of `writeClient`. */
export async function writePlainClient(...of: Parameters<typeof writeClient>): Promise<string> {
  const source = await writeClient(...of);
  const known = cached.get(source);
  if (known !== undefined) return known;
  const plain = withoutGaps(stripTypeScriptTypes(source));
  cached.put(source, plain);
  return plain;
}

/**
 * Types leave white space behind, so that lines keep their numbers, which nobody needs here. No text in a client has a
 * space before such a mark but in its comments.
 */
function withoutGaps(source: string): string {
  return source.replace(/(\S) +([,;)])/g, "$1$2").replace(/\) +(=>|\{)/g, ") $1")
    .replace(/(?<![ \t])[ \t]+$/gm, "").replace(/\n{3,}/g, "\n\n");
}
