// Notes how far the work is, in a file that the service reads.
import { systemClock } from "../../../core/clock.ts";
import type { TransferReport } from "../job.ts";

/** Milliseconds between two notes. */
const EVERY_MS = 200;

/** The report of one child. */
export class Reports {
  #last: Pick<TransferReport, "tables" | "rows" | "notKept"> = { tables: 0, rows: 0, notKept: [] };
  #writtenMs = -Infinity;

  constructor(private readonly path: string) {}

  progress(figures: Pick<TransferReport, "tables" | "rows">): void {
    this.#last = { ...this.#last, ...figures };
    const nowMs = systemClock.monotonicMs();
    if (nowMs - this.#writtenMs < EVERY_MS) return;
    this.#writtenMs = nowMs;
    this.#write({ ...this.#last, state: "running" });
  }

  end(report: Partial<TransferReport> & Pick<TransferReport, "state">): void {
    this.#write({ ...this.#last, ...report });
  }

  /** Written aside and renamed, so that the service never reads half a note. */
  #write(report: TransferReport): void {
    try {
      Deno.writeTextFileSync(`${this.path}.part`, JSON.stringify(report), { mode: 0o600 });
      Deno.renameSync(`${this.path}.part`, this.path);
    } catch {
      // A full disk: without a last report the service knows that the work has failed.
    }
  }
}
