// Turns an expected failure into a value, for whoever shows it beside what was typed instead of ending with it.
import { AppError } from "./errors.ts";

/** What a piece of work came to. */
export type Outcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: AppError };

/** Runs the work. Errors that nobody expects are thrown as they are. */
export async function outcomeOf<Value>(work: () => Promise<Value>): Promise<Outcome<Value>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (error instanceof AppError) return { ok: false, error };
    throw error;
  }
}
