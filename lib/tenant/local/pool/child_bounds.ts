// What one engine child may take, whatever it works at.

/** Resident bytes at which a child is ended: the program, the engine's bounded heap and the largest result fit below. */
export const MAX_RESIDENT_BYTES = 700 * 1024 * 1024;
/** Bytes written up to which nobody asks how many there may be. */
const LITTLE_BYTES = 1024 * 1024;
/** Milliseconds without a report of its memory after which a child that works is ended. */
export const SILENT_MS = 10_000;
/** Milliseconds that a child may take to end by itself. One that is ended loses nothing: what was written is in the logs. */
export const FINISH_MS = 5_000;
/** A child is ended to free memory only from this many bytes on, because a new child takes about half of that. */
export const LARGE_BYTES = 128 * 1024 * 1024;

/** How a process ends by its own doing: V8 and Deno end it so where they get no more memory. */
const OWN_SIGNALS: ReadonlySet<string> = new Set(["SIGTRAP", "SIGABRT", "SIGILL", "SIGSEGV"]);

/**
 * Whether a child that the service did not end was ended by what it ran: by itself, or by the system while it was large. The
 * system ends by the same signal (SIGKILL) as anybody else, who may end a child that has done nothing.
 */
export function endedByWork(signal: string | null, lastResidentBytes: number): boolean {
  return signal !== null && (OWN_SIGNALS.has(signal) || lastResidentBytes >= LARGE_BYTES);
}

/**
 * Whether the read that runs has written more than it may; notes what its child had written before. What it sorts or tells apart
 * is in temporary files once it is more than some megabytes, and those have no bound of the engine's.
 */
export function spillsTooMuch(
  read: { writtenBefore?: number },
  report: { readonly writtenBytes: number } | null,
  mostBytes: () => number,
): boolean {
  const written = report?.writtenBytes ?? NaN;
  // Unknown until a frame has lasted.
  if (Number.isNaN(read.writtenBefore ?? NaN)) read.writtenBefore = written;
  const own = written - (read.writtenBefore ?? NaN);
  return own > LITTLE_BYTES && own > mostBytes();
}

/** The number of a child's last report, and since when it is the last one. */
interface Heard {
  readonly count: number;
  sinceMs: number;
}

/** Whether a child that works has reported nothing for too long, as one that stands still; notes what it has reported. */
export function isSilent(
  work: { heard?: Heard },
  report: { readonly count: number } | null,
  nowMs: number,
): boolean {
  if (work.heard === undefined || (report && report.count !== work.heard.count)) {
    work.heard = { count: report?.count ?? -1, sinceMs: nowMs };
  }
  return nowMs - work.heard.sinceMs >= SILENT_MS;
}
