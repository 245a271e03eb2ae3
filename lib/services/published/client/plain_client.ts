// The client of a database without its types, for pages and programs that take JavaScript.
import { stripTypeScriptTypes } from "node:module";
import { writeClient } from "./client_source.ts";

/** Clients in the cache: strangers ask often, and a client changes only with its endpoints or the schema. */
const MAX_CACHED = 20;
const cached = new Map<string, string>();

/** JavaScript of the client that `writeClient` writes. Errors: those of `writeClient`. */
export async function writePlainClient(...of: Parameters<typeof writeClient>): Promise<string> {
  const source = await writeClient(...of);
  const known = cached.get(source);
  if (known !== undefined) return known;
  const plain = withoutGaps(stripTypeScriptTypes(source));
  if (cached.size >= MAX_CACHED) cached.clear();
  cached.set(source, plain);
  return plain;
}

/**
 * Types leave white space behind, so that lines keep their numbers, which nobody needs here. No text in a client has a
 * space before such a mark but in its comments.
 */
function withoutGaps(source: string): string {
  return source.replace(/(\S) +([,;)])/g, "$1$2").replace(/\) +(=>|\{)/g, ") $1")
    .replace(/[ \t]+$/gm, "").replace(/\n{3,}/g, "\n\n");
}
