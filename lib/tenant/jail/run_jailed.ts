// Runs a throw-away process to its end: one that does a job in a folder, and whose exit code is all that it answers.
import { findParentTie, type JailedProgram, startJailed } from "./start_jailed.ts";

/** A program, what it is to do, and its bounds. */
export interface JailedJob extends Pick<JailedProgram, "program" | "reads" | "heapMb" | "environment"> {
  /** Its first argument, which it may read and write; the engine's own temporary files are there too. */
  readonly folder: string;
  /** Its second argument, as JSON. */
  readonly job: object;
  /** Further paths that it may touch. */
  readonly paths?: readonly string[];
  /** Milliseconds after which it is killed. */
  readonly mostMs: number;
}

/** KiB of its data. */
const DATA_KIB = 2 * 1024 * 1024;

/** Answers how it has ended. */
export async function runJailed(
  { folder, job, paths = [], environment, mostMs, ...program }: JailedJob,
): Promise<Deno.CommandStatus> {
  const process = startJailed({
    ...program,
    args: [folder, JSON.stringify(job)],
    paths: [folder, ...paths],
    dataKib: DATA_KIB,
    parentTie: await findParentTie(),
    environment: { ...environment, SQLITE_TMPDIR: folder },
  });
  await Promise.all([process.stdin.close(), process.stdout.cancel()]);
  const timer = setTimeout(() => process.kill("SIGKILL"), mostMs);
  const status = await process.status;
  clearTimeout(timer);
  return status;
}
