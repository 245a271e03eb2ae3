// Calls that would do nothing, though whoever sends them takes it that they do something.
import { AppError } from "../core/errors.ts";
import type { UnderstoodCall } from "./query_call.ts";

/** Foreign keys are off for one call: where it holds nothing else, nothing is done without them. Errors: `validation_failed`. */
export function refuseIdle({ call, facts, misunderstood }: UnderstoodCall): void {
  const idle = misunderstood === null && facts.every(({ pragma }) => pragma?.foreignKeysOff === true);
  if (!idle) return;
  throw new AppError("validation_failed", {
    issues: [{
      path: call.batch ? "statements" : "sql",
      message:
        "Send PRAGMA foreign_keys=OFF in one batch with the statements that it is for; alone it does nothing",
    }],
  });
}
