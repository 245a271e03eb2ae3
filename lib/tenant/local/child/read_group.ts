// A group of reads of one database: one read transaction, so that all of them see the same state and the schema that
// their facts hold for.
import { systemClock } from "../../../core/clock.ts";
import type { Progress } from "./progress.ts";
import { FRAME_BUDGET_MS, type WireCall, type WireOutcome } from "./protocol.ts";
import { outcomeOf, runCall } from "./run_call.ts";
import type { TenantFile } from "./tenant_file.ts";

/** Outcomes of the calls that ran, in order; those missing at the end were not started. */
export function readGroup(
  file: TenantFile,
  calls: readonly WireCall[],
  progress: Progress,
): { outcomes: WireOutcome[]; text: string } {
  const connection = file.reader();
  const outcomes: WireOutcome[] = [];
  let text = "";
  const startedMs = systemClock.monotonicMs();
  const scope = {
    connection,
    progress,
    guardStatement: <T>(work: () => T): T => work(),
    countWritten: () => 0,
  };
  connection.internalRun("BEGIN");
  try {
    const version = file.readerVersion();
    for (const [index, call] of calls.entries()) {
      if (index > 0 && systemClock.monotonicMs() - startedMs > FRAME_BUDGET_MS) break;
      if (call.schemaVersion !== version) {
        outcomes.push({ k: "stale", v: version });
        continue;
      }
      const run = runCall(scope, call, index);
      text += run.text;
      outcomes.push(outcomeOf(run, [run.rowsRead, 0]));
    }
  } finally {
    if (connection.database.isTransaction) connection.internalRun("COMMIT");
  }
  return { outcomes, text };
}
