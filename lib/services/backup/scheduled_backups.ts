// Backups of the control plane that go into the archive by themselves, so that a lost machine is made anew from the archive
// alone.
import { type Clock, HOUR_MS, MINUTE_MS } from "../../core/clock.ts";
import { fileState } from "../../tenant/archive/file_parts.ts";
import type { MomentArchive } from "../../tenant/moment_archive.ts";
import { archiveBackup, pruneBackups } from "./archived_backups.ts";
import { makeBackup } from "./run_backup_child.ts";
import { removeIfThere } from "../../store/if_there.ts";

/** What this needs. */
export interface ScheduledBackupsOptions {
  readonly kvFile: string;
  /** Made for each, and removed. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly archive: Pick<MomentArchive, "withObjects">;
  readonly keepDays: number;
  readonly clock: Clock;
}

/** Milliseconds from one to the next, unless they take so long that this would be more than a part of the time. */
const EVERY_MS = 55_000;
const PART_OF_TIME = 100;
/** Milliseconds after which changes that are in no backup are too old. */
const LATE_MS = 15 * MINUTE_MS;
const PRUNE_MS = HOUR_MS;

/** One for each process. */
export class ScheduledBackups {
  /** The file as it was when the last one was taken. */
  #archived: string | null = null;
  #nextMs = -Infinity;
  #prunedMs = -Infinity;
  /** Since when there are changes that are in no backup. */
  #changedMs: number | null = null;
  #running: Promise<void> | null = null;

  constructor(private readonly options: ScheduledBackupsOptions) {}

  /** Whether changes wait for too long. */
  get isLate(): boolean {
    return this.#changedMs !== null && this.options.clock.monotonicMs() - this.#changedMs > LATE_MS;
  }

  /** To be called each minute. Takes one if there is something new. Rejects where the store does not answer. */
  async tick(): Promise<void> {
    const state = await this.#state();
    if (state === this.#archived) return;
    const nowMs = this.options.clock.monotonicMs();
    this.#changedMs ??= nowMs;
    if (nowMs >= this.#nextMs) await this.take();
  }

  /** Takes one now, if there is something new. Errors: those of `makeBackup`; rejects where the store does not answer. */
  take(): Promise<void> {
    return this.#running ??= this.#take().finally(() => this.#running = null);
  }

  /** Takes one after all that was written until now: one that is being taken may have begun before. Errors: those of `take`. */
  async takeLast(): Promise<void> {
    await this.#running?.catch(() => {});
    await this.take();
  }

  async #take(): Promise<void> {
    const { kvFile, folder, environment, archive, clock, keepDays } = this.options;
    const state = await this.#state();
    if (state === this.#archived) return;
    const atMs = clock.now();
    const sinceMs = clock.monotonicMs();
    const place = `${folder}/${crypto.randomUUID()}`;
    try {
      await Deno.mkdir(place, { recursive: true, mode: 0o700 });
      const path = await makeBackup(kvFile, atMs, { folder: place, environment });
      await archive.withObjects(async (store) => {
        await archiveBackup(store, path, atMs);
        if (sinceMs - this.#prunedMs <= PRUNE_MS) return;
        this.#prunedMs = sinceMs;
        await pruneBackups(store, { nowMs: atMs, keepDays });
      }, "owner_looked_up");
    } finally {
      await removeIfThere(place);
      const tookMs = clock.monotonicMs() - sinceMs;
      this.#nextMs = sinceMs + Math.max(EVERY_MS, tookMs * PART_OF_TIME);
    }
    this.#archived = state;
    this.#changedMs = null;
  }

  /** Another text when something was written: to the file, or to the log beside it. */
  async #state(): Promise<string> {
    const { kvFile } = this.options;
    return `${await fileState(kvFile)} ${await fileState(`${kvFile}-wal`)}`;
  }
}
