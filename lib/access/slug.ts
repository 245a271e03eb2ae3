// The form of a namespace's or a database's slug (contract 2).

/** Bounds what becomes part of a path or of a key. */
export const SLUG_PATTERN = /^[a-z][a-z0-9-]{0,40}$/;

export function isSlug(text: string): boolean {
  return SLUG_PATTERN.test(text);
}
