// What the lists of services share: the page that they answer, and the check of the cursor that asks for it.
import { isSlug } from "../access/slug.ts";
import { invalidInput } from "../core/errors.ts";
import { type IdPrefix, isId } from "../core/ids.ts";

/** One page of a list, as the API shows it. */
export interface ShownPage<View> {
  readonly items: readonly View[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * A cursor is the id of the last entry of a page, and its slug where they are listed by that (`bySlug`). Behind one that is
 * none nothing would be found, which its caller would take for the end of the list. Errors: `validation_failed`.
 */
export function requireCursor(cursor: string | null, prefix: IdPrefix, bySlug = false): void {
  if (cursor === null || (bySlug ? isSlug(cursor) : isId(prefix, cursor))) return;
  throw invalidInput("cursor", "Send the nextCursor of the page before");
}
