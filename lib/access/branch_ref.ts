// The form of a branch's ref (contract 2).

/** Bounds what becomes part of a path or of a key. */
export const BRANCH_REF_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;

export function isBranchRef(text: string): boolean {
  return BRANCH_REF_PATTERN.test(text);
}
