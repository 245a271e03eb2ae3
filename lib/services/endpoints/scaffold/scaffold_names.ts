// Names of scaffolded endpoints and of their inputs, made from the names of tables and columns.
import { singular } from "../../singular.ts";

/** The endpoints that a scaffold can make of a table. */
export type CrudOperation = "list" | "get" | "create" | "update" | "delete";

/** Those, and what only an app is scaffolded with. */
export type ScaffoldOperation = CrudOperation | "search" | "signup" | "login" | "me" | AccountOperation;

/** What keeps the account of a user. */
type AccountOperation = "password" | "logout" | "refresh" | "reset" | "verify";

/** Characters of a slug and of an input's name. */
const MAX_LENGTH = 41;

/** `list-<table>`, the others with the singular: `get-order-item`. A long name is cut and ends in a hash. */
export function scaffoldSlug(operation: ScaffoldOperation, table: string): string {
  const plain = plainName(table) || `table_${mark(table)}`;
  const name = (operation === "list" ? plain : singular(plain)).replaceAll("_", "-");
  const slug = `${operation}-${name}`;
  if (slug.length <= MAX_LENGTH) return slug;
  const end = `-${mark(table)}`;
  return slug.slice(0, MAX_LENGTH - end.length).replace(/-+$/, "") + end;
}

/** Tells long names with the same beginning apart (FNV-1a, 32 bits). */
function mark(name: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(36).padStart(7, "0");
}

/** One input name for each column, in order, each once. A column whose own name is a legal input name keeps it. */
export function inputNames(columns: readonly string[], taken: ReadonlySet<string> = new Set()): string[] {
  const used = new Set(taken);
  const own = columns.map((name) => /^[a-z][a-z0-9_]{0,40}$/.test(name) ? name : null);
  for (const name of own) if (name !== null) used.add(name);
  return columns.map((column, at) => own[at] ?? newName(column, used));
}

function newName(column: string, used: Set<string>): string {
  const plain = plainName(column);
  const base = (/^[a-z]/.test(plain) ? plain : plain === "" ? "column" : `c_${plain}`).slice(0, MAX_LENGTH);
  let name = base;
  for (let number = 2; used.has(name); number++) {
    const suffix = `_${number}`;
    name = base.slice(0, MAX_LENGTH - suffix.length) + suffix;
  }
  used.add(name);
  return name;
}

/**
 * Lower case ASCII letters, digits and single underscores: `OrderItems` → `order_items`. Empty where nothing is left.
 */
export function plainName(name: string): string {
  return name.replaceAll("ß", "ss").normalize("NFKD").replace(/[\u0300-\u036f]/g, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_+|_+$/g, "");
}
