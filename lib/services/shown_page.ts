// What the lists of services share: the page that they answer, and the check of the cursor that asks for it.
import { type AppError, invalidInput } from "../core/errors.ts";
import { type IdPrefix, isId } from "../core/ids.ts";

/** One page of a list, as the API shows it. */
export interface ShownPage<View> {
  readonly items: readonly View[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * A cursor is the id of the last entry of a page. Behind one that is none nothing would be found, which its caller would take
 * for the end of the list. Errors: `validation_failed` for what is no such id.
 */
export function requireCursor(cursor: string | null, prefix: IdPrefix): void {
  if (cursor !== null && !isId(prefix, cursor)) throw noCursor();
}

/** The error of what is no cursor. */
export function noCursor(): AppError {
  return invalidInput("cursor", "Send the nextCursor of the page before");
}
