// The three roles and their order, and what members are called who have them.

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

/** What people are called in a namespace, lowest first. */
export const memberRoles = ["viewer", "editor", "admin"] as const;
/** What a member is. */
export type MemberRole = (typeof memberRoles)[number];

const rightsOf: Readonly<Record<MemberRole, Role>> = { viewer: "read", editor: "write", admin: "admin" };

/** What a member may do. */
export function roleOfMember(role: MemberRole): Role {
  return rightsOf[role];
}
