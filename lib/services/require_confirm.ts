// Deletions name what they delete twice: in the path and in the body.
import { AppError } from "../core/errors.ts";

/** Errors: `validation_failed` on `confirm`. */
export function requireConfirm(confirm: string, slug: string): void {
  if (confirm === slug) return;
  throw new AppError("validation_failed", {
    issues: [{ path: "confirm", message: "Send the slug of what is to be deleted" }],
  });
}
