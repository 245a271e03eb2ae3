// The three roles and their order.

export const roles = ["read", "write", "admin"] as const;
export type Role = (typeof roles)[number];

/** True when `actual` is `needed` or above. */
export function roleAtLeast(actual: Role, needed: Role): boolean {
  return roles.indexOf(actual) >= roles.indexOf(needed);
}

/** The lower of two roles: a scope row can only narrow what a token may do. */
export function lowerRole(a: Role, b: Role): Role {
  return roles.indexOf(a) <= roles.indexOf(b) ? a : b;
}

/** The higher of two roles: of several scope rows for one branch the highest counts. */
export function higherRole(a: Role, b: Role): Role {
  return roles.indexOf(a) >= roles.indexOf(b) ? a : b;
}
