// What became of many requests at once.
import type { ApiAnswer } from "./call_api.ts";

/** How often each status came, of failures with their code. */
export function countOutcomes(answers: readonly ApiAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const outcome = body.code === undefined ? `${status}` : `${status} ${body.code}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}
