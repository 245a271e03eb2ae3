// The archive of all databases of a store: which have changed, when each is read and sent, and what happens while the
// store is away. A database that nobody writes costs nothing.
import { reasonOf } from "../../core/attempt.ts";
import type { ArchiveStatus } from "../moment_archive.ts";
import { ArchiveUpkeep } from "./archive_upkeep.ts";
import { archiveFolder, spooledDatabases } from "./archive_state.ts";
import type { EpochEnd } from "./archive_names.ts";
import type { ArchivedStore } from "./archived_store.ts";
import { type Changed, inTurn, isDue, isLate, newlyChanged, noteServed } from "./changed_database.ts";
import { foldDue, wakeFile } from "./fold_due.ts";
import { DatabaseArchive, type DatabaseArchiveOptions } from "./database_archive.ts";
import type { ObjectStore } from "../object_store.ts";
import { ServingQueue } from "./serving_queue.ts";
import { StoreWatch, type StoreWatchOptions } from "./store_watch.ts";
import { fileState } from "./file_parts.ts";

/** Milliseconds between two looks at what has changed. */
const LOOK_MS = 1000;
/** Bytes of a log that wait, from which they are sent at once. */
const SEND_BYTES = 1024 * 1024;
/** Databases at a time. */
const AT_ONCE = 8;
/** Milliseconds within which a change is told here, from its commit on: far more than a frame takes. */
const TOLD_WITHIN_MS = 60_000;
/** Milliseconds that a stop waits. */
const STOP_MS = 5000;

/** What the archive is opened with. */
export interface ArchiverOptions extends StoreWatchOptions {
  readonly databases: ArchivedStore;
  readonly store: ObjectStore;
  /** Reads files of databases, in another process. */
  readonly pack: DatabaseArchiveOptions["pack"];
  /** Folder of states and spools. */
  readonly folder: string;
  /** Days that a moment can be restored. */
  readonly keepDays: number;
  /** Bytes that may wait for a store that is away. */
  readonly spoolBytes: number;
}

/** The archive of a store. */
export class Archiver {
  readonly #changed = new Map<string, Changed>();
  /** What of its databases is known since this was opened, and when that was. */
  readonly #since;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly watch: StoreWatch;
  readonly #ask: StoreWatch["ask"] = (work, trust) => this.watch.ask(work, trust);
  readonly #queue = new ServingQueue<Changed>(AT_ONCE, (changed) => this.#serve(changed));
  readonly #upkeep: ArchiveUpkeep;
  #failures = 0;

  constructor(readonly options: ArchiverOptions) {
    this.#since = { checked: new Set<string>(), openedMs: options.clock.now() };
    this.watch = new StoreWatch(options);
    this.#upkeep = new ArchiveUpkeep({ ...options, watch: this.watch, isKnown: (id) => this.#isKnown(id) });
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  /** A database has changed. */
  touch(databaseId: string): void {
    const found = this.#changed.get(databaseId);
    if (found) found.again = found.touched = true;
    else this.#add(databaseId);
  }

  /** Notes what an earlier process has left unread. */
  async begin(): Promise<void> {
    const isLeft = (id: string) => this.#archiveOf(id).isLeft();
    for await (const id of this.options.databases.unread(isLeft)) this.#add(id, 0);
    // Their files may be lost: then this is all that there is of the last changes.
    for await (const id of spooledDatabases(this.options.folder)) {
      if (!this.#changed.has(id)) this.#add(id, 0);
    }
  }

  /**
   * Reads and sends what has changed until now. Returns where the archive ends then; null: that is not known here. Rejects
   * where the store does not answer.
   */
  async flush(databaseId: string): Promise<EpochEnd | null> {
    const changed = this.#changed.get(databaseId) ?? this.#add(databaseId);
    await inTurn(changed, async () => {
      await changed.archive.cut();
      await changed.archive.send(this.#ask);
    });
    const state = await changed.archive.state();
    return state === null || state.phase === "lost" ? null : { epoch: state.epoch, segments: state.segments };
  }

  /** Reads what there is before another file takes the place of a database's, which nobody writes meanwhile. */
  async willReplace(databaseId: string): Promise<void> {
    const changed = this.#changed.get(databaseId) ?? this.#add(databaseId);
    changed.replacing++;
    try {
      await inTurn(changed, () => changed.archive.cut("replaced"));
    } catch {
      // What could not be read makes a gap, of which the next epoch tells.
      this.options.log("warn", "archive_gap", { databaseId });
    } finally {
      changed.replacing--;
    }
  }

  /** Forgets a database that was dropped; its objects stay as long as any. */
  async forget(databaseId: string): Promise<void> {
    const changed = this.#changed.get(databaseId);
    this.#changed.delete(databaseId);
    await changed?.last;
    await (changed?.archive ?? this.#archiveOf(databaseId)).forget();
  }

  async status(databaseId: string): Promise<ArchiveStatus> {
    const changed = this.#changed.get(databaseId);
    const state = await (changed?.archive ?? this.#archiveOf(databaseId)).state();
    const nowMs = this.options.clock.now();
    const { strain } = this;
    if (state === null) return { archivedUntilMs: null, lagMs: null, strain };
    const archivedUntilMs = changed ? state.sentUntilMs : nowMs;
    return { archivedUntilMs, lagMs: Math.max(0, nowMs - archivedUntilMs), strain };
  }

  get figures(): { readonly lagMs: number; readonly failures: number } {
    const nowMs = this.options.clock.monotonicMs();
    const lagsMs = this.#changed.values().map(({ unsentMs }) => nowMs - unsentMs);
    return { lagMs: lagsMs.reduce((most, one) => Math.max(most, one), 0), failures: this.#failures };
  }

  late(): string[] {
    const nowMs = this.options.clock.monotonicMs();
    return [...this.#changed.values()].filter((one) => isLate(one, nowMs)).map((one) => one.databaseId);
  }

  toldLate(databaseId: string): void {
    const changed = this.#changed.get(databaseId);
    if (changed !== undefined) changed.isToldLate = true;
  }

  /** Why the archive falls behind; null: it does not. */
  get strain(): StoreWatch["strain"] {
    return this.watch.strain;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const sent = Promise.all([...this.#changed.keys()].map((id) => this.flush(id).catch(() => {})));
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, STOP_MS);
    await Promise.race([sent, promise]);
    clearTimeout(timer);
  }

  /** `idleUntilMs`: nothing waited then. Behind the start that holds for every database that is not among the changed. */
  #add(databaseId: string, idleUntilMs = this.options.clock.now() - TOLD_WITHIN_MS): Changed {
    const sinceMs = this.options.clock.monotonicMs();
    const changed = newlyChanged(databaseId, this.#archiveOf(databaseId, idleUntilMs), sinceMs);
    this.#changed.set(databaseId, changed);
    return changed;
  }

  #archiveOf(databaseId: string, idleUntilMs = 0): DatabaseArchive {
    const { databases, folder } = this.options;
    return new DatabaseArchive({
      ...this.options,
      databaseId,
      idleUntilMs,
      ...this.#since,
      path: databases.pathOf(databaseId),
      folder: archiveFolder(folder, databaseId),
    });
  }

  #look(): void {
    const nowMs = this.options.clock.monotonicMs();
    this.#queue.set([...this.#changed.values()].filter((one) => one.touched || isDue(one, nowMs)));
    if (this.#changed.size > 0) this.#upkeep.beginIfDue();
  }

  async #serve(changed: Changed): Promise<void> {
    const { databaseId } = changed;
    const nowMs = this.options.clock.monotonicMs();
    changed.touched = false;
    try {
      if (!isDue(changed, nowMs) && !await changed.archive.waits(SEND_BYTES)) return;
      await inTurn(changed, () => this.#advance(changed));
      noteServed(changed, nowMs);
      const done = !changed.again && changed.turns === 0;
      if (done && this.#changed.get(databaseId) === changed) this.#changed.delete(databaseId);
    } catch (error) {
      changed.sinceMs = nowMs;
      this.#failures++;
      this.options.log("warn", "archive_failed", { databaseId, reason: reasonOf(error) });
    }
  }

  async #advance(changed: Changed): Promise<void> {
    const { archive, again } = changed;
    const state = await archive.state();
    changed.again = false;
    try {
      // A base is of no use while nobody takes it.
      if (state === null || state.phase === "lost") {
        const reaches = await this.#ask(() => Promise.resolve()).then(() => true, () => false);
        if (!reaches) changed.again = true;
        else await wakeFile(this.options.databases, changed.databaseId).then(() => archive.cut());
      } else if (!await this.#hasRoom(archive)) changed.again = true; // the next epoch is begun without a write
      else if (again) await archive.cut();
    } catch (error) {
      changed.again = true;
      throw error;
    }
    await this.#foldLong(changed);
    // The database stands still until its file is read: what is left of the spool is sent afterwards.
    await archive.send(this.#ask, () => changed.replacing > 0);
    if (changed.replacing > 0) changed.again = true;
  }

  /** While the store is away, each database that waits has an equal part of the room. */
  async #hasRoom(archive: DatabaseArchive): Promise<boolean> {
    if (this.strain === null) return true;
    if (await archive.spoolBytes() <= this.options.spoolBytes / Math.max(1, this.#changed.size)) return true;
    await archive.lose();
    return false;
  }

  /** Folds a log in that is long, or too long for a database that nobody writes any more. */
  async #foldLong({ databaseId, archive, again }: Changed): Promise<void> {
    const due = await foldDue(`${this.options.databases.pathOf(databaseId)}-wal`, { isWritten: again });
    if (due === null) return;
    await this.options.databases.holding(databaseId, async (fold) => {
      const state = await archive.state();
      // Nothing goes on in a log of which nothing is archived.
      if (state === null || state.phase === "lost") return void await fold({ keeps: false });
      await archive.cut("folding");
      await archive.folded(await fold(due));
    });
    // What is in the file now is not read again for it.
    if (await archive.needsBase()) await archive.cut();
  }

  /** A file that was made from the archive has no state yet, and its epoch there may be all that is sent of it. */
  async #isKnown(databaseId: string): Promise<boolean> {
    const file = await fileState(this.options.databases.pathOf(databaseId));
    return file !== null || await this.#archiveOf(databaseId).state() !== null;
  }
}
