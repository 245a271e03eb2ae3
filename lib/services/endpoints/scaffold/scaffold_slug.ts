// Slugs of scaffolded endpoints.
import { singular } from "../../singular.ts";
import { plainName } from "./plain_name.ts";

export type CrudOperation = "list" | "get" | "create" | "update" | "delete";

const MAX_LENGTH = 41;

/** `list-<table>`, the others with the singular: `get-order-item`. A name that is too long ends in a mark of its own. */
export function scaffoldSlug(operation: CrudOperation, table: string): string {
  const plain = plainName(table) || `table_${mark(table)}`;
  const name = (operation === "list" ? plain : singular(plain)).replaceAll("_", "-");
  const slug = `${operation}-${name}`;
  if (slug.length <= MAX_LENGTH) return slug;
  const end = `-${mark(table)}`;
  return slug.slice(0, MAX_LENGTH - end.length).replace(/-+$/, "") + end;
}

/** Tells names apart that are cut to the same beginning (FNV-1a, 32 bits). */
function mark(name: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(36).padStart(7, "0");
}
