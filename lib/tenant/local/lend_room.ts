// A read that found no room for what SQLite needs to open its database runs again, in room of the reserve.
import type { LaneFlight } from "./child_slot.ts";
import type { ReplyFrame } from "./engine_child.ts";

/** Others may take what is given back before the read does. */
const MAX_LOANS = 4;

/** Whether the work has gone back to its lanes. `lend` gives room back to the disk, and says whether there was some. */
export function runsInLentRoom(
  { work, lanes }: LaneFlight,
  { reply }: ReplyFrame,
  lend: () => boolean,
): boolean {
  // Of the whole frame: a statement's own trouble is in its outcome.
  if (reply.t !== "failed" || reply.f.kind !== "full") return false;
  if (work.kind === "write" || (work.kind === "task" && work.holdsWriteSlot)) return false;
  const jobs = work.kind === "task" ? [work.job] : work.jobs;
  if (jobs.some(({ loans = 0 }) => loans >= MAX_LOANS) || !lend()) return false;
  for (const job of jobs) job.loans = (job.loans ?? 0) + 1;
  if (work.kind === "task") lanes.putBackTask(work.job, "read");
  else lanes.putBack(work.jobs.filter((job) => !job.takenBack), "read");
  return true;
}
