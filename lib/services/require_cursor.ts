// Refuses a cursor that is none: behind it nothing would be found, which its caller would take for the end of the list.
import { invalidInput } from "../core/errors.ts";
import { type IdPrefix, isId } from "../core/ids.ts";

/** A cursor is the id of the last entry of a page. Errors: `validation_failed` for what is no such id. */
export function requireCursor(cursor: string | null, prefix: IdPrefix): void {
  if (cursor === null || isId(prefix, cursor)) return;
  throw invalidInput("cursor", "Send the nextCursor of the page before");
}
