// The three roles and their order.

/** Lowest first. */
export const roles = ["read", "write", "admin"] as const;
/** What a token may do. */
export type Role = (typeof roles)[number];

/** Whether `actual` is `needed` or higher. */
export function roleAtLeast(actual: Role, needed: Role): boolean {
  return roles.indexOf(actual) >= roles.indexOf(needed);
}

/** The lower of two roles: a scope can only reduce what a token may do. */
export function lowerRole(a: Role, b: Role): Role {
  return roles.indexOf(a) <= roles.indexOf(b) ? a : b;
}

/** The higher of two roles: the highest of several scopes for a branch counts. */
export function higherRole(a: Role, b: Role): Role {
  return roles.indexOf(a) >= roles.indexOf(b) ? a : b;
}
