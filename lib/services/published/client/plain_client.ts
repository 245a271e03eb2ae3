// The client of a database without its types, for pages and programs that take JavaScript.
import { stripTypeScriptTypes } from "node:module";
import { MAX_ENDPOINT_CHARACTERS } from "../../../core/limits.ts";
import { writeClient } from "./client_source.ts";

/** Clients in the cache: strangers ask often, and a client changes only with its endpoints or the schema. */
const MAX_CACHED = 20;
/** Characters of their sources together; one is about as long as the specifications of its endpoints. */
const MAX_CHARACTERS = 2 * MAX_ENDPOINT_CHARACTERS;
const cached = new Map<string, string>();
let cachedCharacters = 0;

/** JavaScript of the client that `writeClient` writes. Errors: those of `writeClient`. */
export async function writePlainClient(...of: Parameters<typeof writeClient>): Promise<string> {
  const source = await writeClient(...of);
  const known = cached.get(source);
  if (known !== undefined) return known;
  const plain = withoutGaps(stripTypeScriptTypes(source));
  if (cached.size >= MAX_CACHED || cachedCharacters + source.length > MAX_CHARACTERS) {
    cached.clear();
    cachedCharacters = 0;
  }
  cached.set(source, plain);
  cachedCharacters += source.length;
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
