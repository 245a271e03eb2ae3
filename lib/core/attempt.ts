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

/** No text of an error's own, which may hold paths, addresses and values. What the system says it says by code, as `ENOSPC`. */
export function reasonOf(error: unknown): string {
  if (error instanceof AppError) return error.code;
  if (!(error instanceof Error)) return "unknown";
  const code: unknown = Reflect.get(error, "code");
  // Deno has a name of its own for only some of the system's errors.
  return error.name === "Error" && typeof code === "string" && /^E[A-Z\d]+$/.test(code) ? code : error.name;
}
