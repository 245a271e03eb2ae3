// Stage 2: the caller's role against what each statement needs. Errors: `statement_refused`, `role_too_low`.
import { AppError } from "../core/errors.ts";
import { type Role, roleAtLeast } from "../core/role.ts";
import type { StatementFacts } from "../sql/statement_facts.ts";
import { refused } from "./failure_error.ts";

/** Throws for the first statement that this role may not run; `batch` adds its place to the error. */
export function authorise(role: Role, facts: readonly StatementFacts[], batch: boolean): void {
  for (const [index, one] of facts.entries()) {
    const extra = batch ? { failedIndex: index } : {};
    if (one.role === null) throw refused(one.refusal ?? "This statement", extra);
    if (!roleAtLeast(role, one.role)) {
      throw new AppError("role_too_low", {
        message: `Use a token with role ${one.role} for this statement; this one has ${role}`,
        extra,
      });
    }
  }
}
