// Runs random cases against a model. `MODEL_SEED` and `MODEL_ROUNDS` choose which and how many; without them a test runs
// the same few each time. A failure prints the seed and the smallest case that still fails.
import fc from "fast-check";
import { randomCases } from "../testing/rounds.ts";

/** A case that the model and the service disagree about fails in `check`. */
export async function holds<Case>(
  cases: fc.Arbitrary<Case>,
  every: number,
  check: (one: Case) => Promise<void>,
): Promise<void> {
  const seed = Number(Deno.env.get("MODEL_SEED") ?? 1);
  const numRuns = Number(Deno.env.get("MODEL_ROUNDS") ?? randomCases(every));
  await fc.assert(fc.asyncProperty(cases, check), { seed, numRuns });
}
