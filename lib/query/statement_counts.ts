// Counts the calls of statements that the process has run, once each, where they are paid.
import { counter, type MetricFamily, type MetricSample } from "../core/metrics.ts";
import type { LogRow, TenantOutcome } from "../tenant/tenant_store.ts";

type Rows = Pick<LogRow, "rowsRead" | "rowsWritten">;

/** Calls of one class. */
interface CallCounts {
  ok: number;
  failed: number;
  timeout: number;
  refused: number;
}

const NO_WORK: Rows = { rowsRead: 0, rowsWritten: 0 };

/** The calls since the start of the process, those of the service's own left out. */
export class StatementCounts {
  readonly #reads: CallCounts = { ok: 0, failed: 0, timeout: 0, refused: 0 };
  readonly #writes: CallCounts = { ok: 0, failed: 0, timeout: 0, refused: 0 };
  #rowsRead = 0;
  #rowsWritten = 0;

  /** `refused`: the call was stopped before it ran. `failed`: a statement of it could not be understood, and nothing ran. */
  note(
    writes: boolean,
    outcome: Extract<TenantOutcome, { ok: boolean }> | "refused" | "failed",
    { rowsRead, rowsWritten }: Rows = NO_WORK,
  ): void {
    const counts = writes ? this.#writes : this.#reads;
    if (outcome === "refused" || outcome === "failed") counts[outcome]++;
    else if (outcome.ok) counts.ok++;
    else if (outcome.failure.kind === "timeout") counts.timeout++;
    else counts.failed++;
    this.#rowsRead += rowsRead;
    this.#rowsWritten += rowsWritten;
  }

  families(): MetricFamily[] {
    return [
      counter("calls", "Calls of statements; a batch is one", [
        ...samplesOf("read", this.#reads),
        ...samplesOf("write", this.#writes),
      ]),
      counter("rows_read", "Rows that these calls have read", this.#rowsRead),
      counter("rows_written", "Rows that these calls have written", this.#rowsWritten),
    ];
  }
}

function samplesOf(kind: string, counts: CallCounts): MetricSample[] {
  return Object.entries(counts).map(([outcome, value]) => ({ labels: { class: kind, outcome }, value }));
}
