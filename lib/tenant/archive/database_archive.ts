// The archive of one database: has what is new put into the spool, and sends it from there to the store. Nobody but this
// folds the log into the file while the archive is on.
import { type Clock, systemClock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import { databasePrefix } from "./archive_names.ts";
import { ArchiveFolder, type ArchiveState } from "./archive_state.ts";
import type { CutAnswer, CutJob } from "./cut_job.ts";
import { type After, afterStored, gapAfter, isBehindStore, needsBase } from "./epoch_turns.ts";
import { logReaches } from "../log_length.ts";
import type { ObjectStore } from "../object_store.ts";
import type { StoreWatch } from "./store_watch.ts";

/** Databases that are remembered as checked; beyond, all are forgotten, and each is looked at once more. */
const MOST_CHECKED = 100_000;

/** What this needs. */
export interface DatabaseArchiveOptions {
  readonly databaseId: string;
  /** The database's file. */
  readonly path: string;
  readonly folder: string;
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** Unix milliseconds: everything that was answered by then is in the store, unless the next cut finds a gap before. */
  readonly idleUntilMs?: number;
  /** Databases of which it is known since the start that the store has nothing later than their states. */
  readonly checked: Set<string>;
  /** When this process opened the archive, unix milliseconds. */
  readonly openedMs: number;
  readonly log: Log;
  /** Reads the files, in another process. */
  readonly pack: (job: CutJob) => Promise<CutAnswer>;
}

/** The archive of one database. One call at a time. */
export class DatabaseArchive {
  readonly #folder: ArchiveFolder;
  #state: ArchiveState | null | undefined;
  #isTidy = false;

  constructor(private readonly options: DatabaseArchiveOptions) {
    this.#folder = new ArchiveFolder(options.folder);
  }

  async state(): Promise<ArchiveState | null> {
    if (this.#state !== undefined) return this.#state;
    const noted = await this.#folder.read();
    // No upload changes the state's file, which may be older than the spool. An empty spool says that all of it was sent.
    const isSent = (await this.#folder.spool()).length === 0;
    const sentUntilMs = (one: ArchiveState) =>
      Math.max(isSent ? one.untilMs : one.sentUntilMs, this.options.idleUntilMs ?? 0);
    const state = noted && noted.phase !== "lost" ? { ...noted, sentUntilMs: sentUntilMs(noted) } : noted;
    return this.#state === undefined ? this.#state = state : this.#state;
  }

  /** Whether so many bytes of the log, or more, are not read yet. */
  async waits(bytes: number): Promise<boolean> {
    return logReaches(`${this.options.path}-wal`, bytes, await this.state() ?? undefined);
  }

  /** Whether nothing of it was ever archived, or something waits that no process sends. */
  async isLeft(): Promise<boolean> {
    const state = await this.state();
    return state === null || state.phase === "lost" || (await this.#folder.spool()).length > 0;
  }

  /** Whether a new base is due. */
  async needsBase(): Promise<boolean> {
    const state = await this.state();
    return state !== null && state.phase === "reads" && needsBase(state, this.options.clock.now());
  }

  /**
   * Puts what has been committed until now into the spool. `then` notes that the next file, or the file with its log folded in,
   * goes on without a gap: the write slot is held. Rejects where it cannot be told from what is archived.
   */
  async cut(then: "folding" | "replaced" | null = null): Promise<void> {
    await this.#tidy();
    const state = await this.state();
    const isFirst = state === null || state.phase === "lost";
    const after = isFirst ? await this.#afterGap(state) : null;
    await this.#do({ kind: "cut", then }, after);
  }

  /** Notes how many frames of the log are in the file; null: all, and the log is empty. The write slot is held. */
  async folded(frames: number | null): Promise<void> {
    await this.#do({ kind: "folded", frames }, null);
  }

  /**
   * Puts the spool into the store, in its order; where the store has later objects than the state, as behind a disk that was taken
   * back to an earlier time, a new epoch begins instead. `ask` asks the store; the rest stays where `isOver`. Rejects where the store does
   * not answer.
   */
  async send(ask: StoreWatch["ask"], isOver: () => boolean = () => false): Promise<void> {
    await this.#tidy();
    let isBehind = false;
    await ask(async () => {
      isBehind = await this.#isBehind();
      if (!isBehind) await this.#upload(ask, isOver);
    });
    if (!isBehind) return;
    this.options.log("warn", "archive_disk_taken_back", { databaseId: this.options.databaseId });
    await this.lose();
    await this.cut();
    await ask(() => this.#upload(ask, isOver));
  }

  async #upload(ask: StoreWatch["ask"], isOver: () => boolean): Promise<void> {
    const { store, databaseId } = this.options;
    for (const { file, name, key } of await this.#folder.spool()) {
      if (isOver()) return;
      const bytes = await this.#folder.load(file);
      const put = async () => void await store.put(databasePrefix(databaseId) + key, bytes);
      // An epoch that begins behind those of whoever has taken over would be taken for their end.
      if (name.kind === "begin") await ask(put, "owner_looked_up");
      else await put();
      await this.#folder.drop(file);
    }
    const now = await this.state();
    if (now && now.phase !== "lost") this.#state = { ...now, sentUntilMs: now.untilMs };
  }

  /** Bytes that wait in the spool. */
  spoolBytes(): Promise<number> {
    return this.#folder.spoolBytes();
  }

  /** Gives up what waits, as where there is no room for it: the next base begins after a gap. */
  async lose(): Promise<void> {
    const state = await this.state();
    if (state === null || state.phase === "lost") return;
    // What was not read yet may have a gap of its own.
    this.#state = { ...state, phase: "lost", sentUntilMs: Math.min(state.sentUntilMs, state.untilMs) };
    await this.#folder.write(this.#state);
    for (const { file } of await this.#folder.spool()) await this.#folder.drop(file);
  }

  async forget(): Promise<void> {
    this.#state = null;
    await this.#folder.removeAll();
  }

  /** After a start and a failed cut, and in a turn only: whoever asks for the state must not take away what is being spooled. */
  async #tidy(): Promise<void> {
    if (this.#isTidy) return;
    await this.#folder.dropUnnoted(await this.state());
    this.#isTidy = true;
  }

  async #do(work: CutJob["work"], after: After | null): Promise<void> {
    const { databaseId, path, folder, clock, pack } = this.options;
    // In this order, so that a clock of the machine that ticks between them makes a moment later, never earlier.
    const machineMs = systemClock.now();
    const nowMs = clock.now();
    const state = await this.state();
    this.#isTidy = false;
    try {
      const answer = await pack({
        work,
        databaseId,
        path,
        folder,
        state,
        after,
        nowMs,
        aheadMs: nowMs - machineMs,
      });
      if ("failed" in answer) throw new Error(answer.failed);
      this.#state = answer.state;
      this.#isTidy = true;
    } catch (error) {
      this.#state = undefined;
      throw error;
    }
  }

  /** Looked at once since the start: from then on nobody but this process adds to the store. */
  async #isBehind(): Promise<boolean> {
    const { checked, databaseId, store } = this.options;
    const state = await this.state();
    if (state === null || checked.has(databaseId)) return false;
    const isBehind = await isBehindStore(store, databaseId, state);
    if (checked.size >= MOST_CHECKED) checked.clear();
    checked.add(databaseId);
    return isBehind;
  }

  async #afterGap(state: ArchiveState | null): Promise<After> {
    const { store, databaseId, openedMs } = this.options;
    if (state === null) return await afterStored(store, databaseId);
    if (!await isBehindStore(store, databaseId, state)) {
      return gapAfter({ ...state, untilMs: state.sentUntilMs });
    }
    // The file was last written before the last that the store has. It is so again since the start at the latest.
    const after = await afterStored(store, databaseId);
    return { ...after, atMs: Math.max(openedMs, (after.gapFromMs ?? 0) + 1) };
  }
}
