// Whether a page offers what only admins may do. What they may is decided by the services; this only hides what would
// be refused.
import type { Visit } from "../../http/visit.ts";

/** True for the operator and for an admin of the namespace. */
export function mayManage({ person }: Visit, namespaceSlug: string): boolean {
  if (person === null) return false;
  const { caller } = person;
  if (caller.kind === "operator") return true;
  return caller.namespaceSlug === namespaceSlug && caller.role === "admin";
}
