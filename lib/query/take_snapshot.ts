// Stage 5: the snapshot before a destructive statement. There is no snapshot store yet, so none is taken.
import type { UnderstoodCall } from "./query_call.ts";

/** The snapshot's label, or null where none was taken. */
export function takeSnapshot(_understood: UnderstoodCall): string | null {
  return null;
}
