// Builds the file of a database as it was at a moment, in a folder of its own: the objects are brought here and compared
// with their digests, and a throw-away process puts them together and checks the result.
import { MINUTE_MS } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { runJailed } from "../jail/run_jailed.ts";
import type { EpochEnd } from "./archive_names.ts";
import { buildExits, type BuildJob, isFullDisk } from "./build_job.ts";
import { findMoment, type Moment, readObject } from "./find_epoch.ts";
import type { ReadObjects } from "../object_store.ts";
import { writeAll } from "../../store/write_all.ts";

/** Megabytes of the process's heap, and milliseconds that it may take. */
const HEAP_MB = 512;
const BUILD_MS = 30 * MINUTE_MS;

/** What is to be built, and where. */
export interface BuildOptions {
  readonly store: ReadObjects;
  readonly databaseId: string;
  readonly atMs: number;
  /** Where the archive ends; null: that is not known here. */
  readonly end: EpochEnd | null;
  /** Made here. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** When the file takes the place of one that is lost, unix milliseconds. */
  readonly restartMs?: number;
}

/**
 * Returns the path of the file. Errors: those of `findMoment`, `storage_full`, `archive_unavailable` where the process was
 * ended; rejects where the store does not answer.
 */
export async function buildMoment(options: BuildOptions): Promise<string> {
  const { store, databaseId, atMs, folder, restartMs = null } = options;
  const moment = await findMoment(store, databaseId, options);
  await onDisk(Deno.mkdir(folder, { recursive: true, mode: 0o700 }));
  await bring(store, moment, folder).catch(async (error) => {
    // What the daily removal has taken away meanwhile is too early now, and not damaged.
    await findMoment(store, databaseId, options);
    throw error;
  });
  const parts = moment.parts.map(({ length }) => length);
  await build({ whole: moment.whole.length, parts, atMs, restartMs }, options);
  return `${folder}/built.db`;
}

async function bring(store: ReadObjects, { pieces, whole, parts }: Moment, folder: string): Promise<void> {
  using base = await onDisk(
    Deno.open(`${folder}/built.db`, { createNew: true, write: true, mode: 0o600 }),
  );
  for (const piece of pieces) {
    await onDisk(writeAll(base, await readObject(store, piece)));
  }
  for (const [at, segment] of [...whole, ...parts.flat()].entries()) {
    const bytes = await readObject(store, segment);
    await onDisk(Deno.writeFile(`${folder}/wal-${at}`, bytes, { mode: 0o600 }));
  }
}

/** Work on the disk of the machine, which may be full: that says nothing of the archive. */
async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw isFullDisk(error) ? new AppError("storage_full") : error;
  }
}

async function build(job: BuildJob, { folder, environment }: BuildOptions): Promise<void> {
  const program = new URL("./child/main.ts", import.meta.url).href;
  const { code } = await runJailed({
    program,
    folder,
    job,
    environment,
    heapMb: HEAP_MB,
    mostMs: BUILD_MS,
  });
  if (code === buildExits.done) return;
  if (code === buildExits.noRoom) throw new AppError("storage_full");
  if (code === buildExits.damaged) throw new AppError("archive_damaged");
  // Somebody has ended it, or it found no memory: that says nothing of the archive.
  throw new AppError("archive_unavailable", {
    message: "Try again shortly; the process that puts the moment together was ended and nothing has changed",
  });
}
