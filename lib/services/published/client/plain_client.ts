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
  // Types leave white space behind, so that lines keep their numbers, which nobody needs here.
  const plain = stripTypeScriptTypes(source).replace(/[ \t]+$/gm, "").replace(/\n{3,}/g, "\n\n");
  if (cached.size >= MAX_CACHED) cached.clear();
  cached.set(source, plain);
  return plain;
}
