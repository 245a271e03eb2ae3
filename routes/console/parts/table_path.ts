// Addresses of the pages of a table. Any text may be the name of one: browsers would take some for steps up the path.

/** A name that stands in a path as it is, coded; others begin with a mark. */
const PLAIN = /^[^~.]/;

/** The address of a table below `base`, the database's own. */
export function tablePath(base: string, table: string): string {
  return `${base}/tables/${PLAIN.test(table) ? encodeURIComponent(table) : `~${encodeURIComponent(table)}`}`;
}

/** The name of a table from the part of the path. */
export function tableOfPath(part: string): string {
  return part.startsWith("~") ? part.slice(1) : part;
}
