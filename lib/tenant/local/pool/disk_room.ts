// Room on the disk: tests whether tenants' files can be written, how much reads may put aside there, and runs reads again that
// found no room.
import { statfsSync } from "node:fs";
import type { Clock } from "../../../core/clock.ts";
import { AppError } from "../../../core/errors.ts";
import type { LaneFlight } from "./child_slot.ts";
import { holdsWriteSlot } from "../lanes/jobs.ts";
import type { ReplyFrame } from "../frames/reply_frames.ts";

/** Bytes to write in the test: about a small write with its log. */
const PROBE_BYTES = 64 * 1024;
/** Milliseconds for which a result is reused, because anybody may ask. */
const GOOD_MS = 5_000;
const BAD_MS = 1_000;

/** Tests by writing, because no system figure shows quotas and permissions, and remembers the result for a moment. */
export class RoomProbe {
  #untilMs = -Infinity;
  #last: Promise<boolean> = Promise.resolve(true);

  constructor(private readonly folder: string, private readonly clock: Clock) {}

  /** Tests the folder. Errors: `storage_full`, for any reason that prevents the write. */
  async check(): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    if (nowMs >= this.#untilMs) {
      // Callers that come meanwhile share the result.
      this.#untilMs = nowMs + GOOD_MS;
      this.#last = this.#write();
    }
    if (await this.#last) return;
    this.#untilMs = Math.min(this.#untilMs, nowMs + BAD_MS);
    throw new AppError("storage_full");
  }

  async #write(): Promise<boolean> {
    const path = `${this.folder}/room`;
    try {
      await Deno.writeFile(path, new Uint8Array(PROBE_BYTES), { mode: 0o600 });
      return true;
    } catch {
      return false;
    } finally {
      await Deno.remove(path).catch(() => {});
    }
  }
}

/** The part of the free disk that one read may take: however many there are, they leave the others room. */
const FREE_PART = 1 / 4;

/** Bytes of temporary files that a read may write now: `bound`, or less where the disk of the folder has less; none if it does not tell. */
export function mostTempBytes(folder: string, bound: number): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return Math.min(bound, bavail * bsize * FREE_PART);
  } catch {
    return 0;
  }
}

/** How often one read may run again in lent room: others may take the room before it does. */
const MAX_LOANS = 4;

/**
 * Puts reads back into their lanes if their frame failed because the engine found no room to open the database. `lend`
 * gives room of the reserve to the disk and returns whether there was some. Returns whether the reads run again.
 */
export function runsInLentRoom(
  flight: LaneFlight,
  { reply }: ReplyFrame,
  lend: () => boolean,
): boolean {
  // A failure of the whole frame only; the failure of a single statement is in its outcome.
  if (reply.t !== "failed" || reply.f.kind !== "full") return false;
  if (holdsWriteSlot(flight)) return false;
  const { work, lanes } = flight;
  const jobs = work.kind === "task" ? [work.job] : work.jobs;
  if (jobs.some(({ loans = 0 }) => loans >= MAX_LOANS) || !lend()) return false;
  for (const job of jobs) job.loans = (job.loans ?? 0) + 1;
  if (work.kind === "task") lanes.putBackTask(work.job, "read");
  else lanes.putBack(work.jobs.filter((job) => !job.takenBack), "read");
  return true;
}
