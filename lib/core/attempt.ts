// Work whose failure is told and ends nothing.
import { AppError } from "./errors.ts";
import type { Log } from "./log.ts";

/** Upkeep is not urgent: what has failed is logged as `event`, and the next round tries again. */
export async function attempt(log: Log, event: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log("warn", event, { reason: reasonOf(error) });
  }
}

/** No text of an error's own, which may hold paths, addresses and values. */
export function reasonOf(error: unknown): string {
  if (error instanceof AppError) return error.code;
  return error instanceof Error ? error.name : "unknown";
}
