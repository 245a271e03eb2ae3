// What the address of a connection narrows it to: ?database=<slug> to one database, ?read_only=1 to reading.
import { z } from "zod";
import type { TokenCaller } from "../../../lib/access/caller.ts";
import { resolveTarget, type Target } from "../../../lib/access/resolve_target.ts";
import type { ControlPlane } from "../../../lib/control/control_plane.ts";

/** A misspelt or repeated parameter is refused: a connection must not reach more than its address seems to say. */
export const narrowingQuery = z.strictObject({
  database: z.string().min(1).max(200).optional(),
  read_only: z.literal("1", { error: "Send 1, or leave the parameter out" }).optional(),
});

/** To what a connection is narrowed. */
export interface Narrowing {
  /** Null: to nothing less than what the token reaches. */
  readonly target: Target | null;
  readonly readOnly: boolean;
}

/** Errors: `database_not_found`, `out_of_scope`, `meter_unreachable`. */
export async function narrow(
  ctx: { readonly control: ControlPlane },
  caller: TokenCaller,
  { database, read_only }: z.output<typeof narrowingQuery>,
): Promise<Narrowing> {
  const path = { namespaceSlug: caller.namespaceSlug, databasePath: database ?? "" };
  return {
    target: database === undefined ? null : await resolveTarget(ctx, caller, path),
    readOnly: read_only !== undefined,
  };
}
