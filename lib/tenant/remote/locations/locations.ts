// Locations on the server: what they are called, how large one is, and whether it is lost.
import type { StepResult } from "../hrana/hrana.ts";
import { isLost } from "../hrana/remote_failure.ts";
import { type RemoteContext, rowsAt, runOwn } from "../server/remote_context.ts";
import { integerOf } from "../hrana/remote_values.ts";

/** The first location of a database, and what the names of its other ones begin with; the id must have been checked. */
export function locationOf(databaseId: string): string {
  return databaseId.toLowerCase().replace("_", "-");
}

/** Asks for the bytes of all pages. */
export const SIZE = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";

/** Bytes of the pages of a location. */
export async function sizeOfLocation(context: RemoteContext, location: string): Promise<number> {
  const steps = await runOwn(context, { location, mode: "read" }, [{ stmt: { sql: SIZE } }]);
  return sizeAt(steps, 0);
}

/** What `SIZE` has answered as a step. */
export function sizeAt(steps: readonly StepResult[], at: number): number {
  return integerOf(rowsAt(steps, at)[0]?.[0]);
}

/** False: what it is about is lost. Throws what else fails. */
export async function unlessLost(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!isLost(error)) throw error;
    return false;
  }
}
