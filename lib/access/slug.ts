// The forms of names in paths: slugs of namespaces and databases, refs of branches.

/** Bounds what becomes part of a path or of a key. */
export const SLUG_PATTERN = /^[a-z][a-z0-9-]{0,40}$/;

/** Whether a text has the form of a slug. */
export function isSlug(text: string): boolean {
  return SLUG_PATTERN.test(text);
}

/** Bounds what becomes part of a path or of a key. */
export const BRANCH_REF_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Whether a text has the form of a branch's ref. */
export function isBranchRef(text: string): boolean {
  return BRANCH_REF_PATTERN.test(text);
}
