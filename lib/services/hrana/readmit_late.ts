// Lets the caller of a long request in once more: many quick calls take as long together as a slow one, which asks by itself.
import type { DoorContext, DoorOptions } from "./hrana_types.ts";

/** Milliseconds from the beginning of a request within which nobody asks again. */
const ADMITTED_MS = 250;

/** To be called before each call of a request. Errors: those of `readmit`. */
export async function readmitLate(
  ctx: DoorContext,
  { beganMs }: Pick<DoorOptions, "beganMs">,
): Promise<void> {
  if (ctx.clock.monotonicMs() - beganMs > ADMITTED_MS) await ctx.readmit(ctx);
}
