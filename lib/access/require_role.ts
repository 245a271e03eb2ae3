// The one place that says no because of a role.
import { AppError } from "../core/errors.ts";
import { type Role, roleAtLeast } from "../core/role.ts";

/** Errors: `role_too_low`, naming the wanted role, then the current one. */
export function requireRole(actual: { readonly role: Role }, needed: Role): void {
  if (roleAtLeast(actual.role, needed)) return;
  throw new AppError("role_too_low", {
    message: `Use a token with role ${needed} here; this one has ${actual.role}`,
  });
}
