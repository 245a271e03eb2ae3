// Who may manage a namespace under `/api`: an unscoped admin token of it, or the operator.
import { AppError } from "../core/errors.ts";
import type { Caller } from "./caller.ts";
import { requireRole } from "./require_role.ts";

/** Errors: `namespace_mismatch`, `out_of_scope`, `role_too_low`. */
export function requireNamespaceAdmin(caller: Caller, namespaceSlug: string): void {
  if (caller.kind === "operator") return;
  if (caller.namespaceSlug !== namespaceSlug) throw new AppError("namespace_mismatch");
  if (caller.scopes.length > 0) {
    throw new AppError("out_of_scope", {
      message: "Use a token without scopes to manage the namespace; this one reaches listed databases only",
    });
  }
  requireRole(caller, "admin");
}
