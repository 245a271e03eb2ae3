// The archive of one database: makes bases and segments of its file and its write-ahead log, puts them into the spool and
// from there into the store. Nobody but this folds the log into the file while the archive is on.
import type { Clock } from "../../core/clock.ts";
import { type ArchiveName, databasePrefix, epochName, type SegmentHead } from "./archive_names.ts";
import {
  type After,
  afterStored,
  epochBegin,
  follows,
  gapAfter,
  goesOn,
  lastCommit,
  needsBase,
  stillHolds,
} from "./epoch_turns.ts";
import { ArchiveFolder, type ArchiveState } from "./archive_state.ts";
import { digestOf } from "./digest.ts";
import { fileState, readLogHead, readPart } from "./file_parts.ts";
import type { ObjectStore } from "./object_store.ts";
import { pack } from "./packed.ts";
import { FRAME_HEAD_BYTES, WAL_HEAD_BYTES, type WalHead, walkFrames, type WalSum } from "./wal_frames.ts";

/** Bytes of a piece of a base, and of a segment, before they are packed. */
export const PIECE_BYTES = 4 * 1024 * 1024;
/** What this needs. */
export interface DatabaseArchiveOptions {
  readonly databaseId: string;
  /** The database's file. */
  readonly path: string;
  readonly folder: string;
  readonly store: ObjectStore;
  readonly clock: Clock;
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
    return this.#state === undefined ? this.#state = await this.#folder.read() : this.#state;
  }

  /** Bytes of the log that are not read yet, about. */
  async waitingBytes(logBytes: number): Promise<number> {
    const state = await this.state();
    const read = state === null ? 0 : state.frames * (FRAME_HEAD_BYTES + state.pageBytes);
    return Math.max(0, logBytes - read);
  }

  /** Puts what has been committed until now into the spool. Rejects where it cannot be told from what is archived. */
  async cut(): Promise<void> {
    await this.#tidy();
    this.#isTidy = false;
    await this.#cut();
    this.#isTidy = true;
  }

  async #cut(): Promise<void> {
    const untilMs = this.options.clock.now();
    const file = await fileState(this.options.path);
    if (file === null) return;
    const head = await readLogHead(this.options.path);
    const state = await this.state();
    if (state === null || state.phase === "lost") {
      return await this.#begin(head, await this.#afterGap(state), untilMs);
    }
    if (!goesOn(state, file, head) || !await stillHolds(`${this.options.path}-wal`, head, state)) {
      const whole = state.phase === "replaced";
      return await this.#begin(head, whole ? follows(state) : gapAfter(state), untilMs);
    }
    await this.#note({ ...state, file, phase: "reads" });
    await this.#read(head, untilMs);
    const now = await this.state();
    if (now !== null && needsBase(now, untilMs)) {
      await this.#begin(await readLogHead(this.options.path), follows(now), untilMs);
    }
  }

  /** Notes that the next file, or the file with its log folded in, goes on without a gap. The write slot is held. */
  async willChange(phase: "folding" | "replaced"): Promise<void> {
    const state = await this.state();
    if (state !== null && state.phase !== "lost") await this.#note({ ...state, phase });
  }

  /** Notes that the log was folded in, `all` of it or as far as nobody reads it. The write slot is held. */
  async folded(all: boolean): Promise<void> {
    const state = await this.state();
    const file = await fileState(this.options.path);
    if (state === null || state.phase === "lost" || file === null) return;
    const begins = all ? { salts: "", frames: 0 } : {};
    await this.#note({ ...state, ...begins, file, phase: "reads" });
  }

  /** Puts the spool into the store, in its order. Rejects where the store does not answer. */
  async upload(): Promise<void> {
    const { store, databaseId } = this.options;
    await this.#tidy();
    for (const { file, key } of await this.#folder.spool()) {
      await store.put(databasePrefix(databaseId) + key, await this.#folder.load(file));
      await this.#folder.drop(file);
    }
    const now = await this.state();
    if (now && now.phase !== "lost") this.#state = { ...now, sentUntilMs: now.untilMs };
  }

  /** Bytes that wait in the spool. */
  spoolBytes(): Promise<number> {
    return this.#folder.spoolBytes();
  }

  /** Gives up what waits, because there is no room: the next base begins after a gap. */
  async lose(): Promise<void> {
    const state = await this.state();
    if (state === null || state.phase === "lost") return;
    await this.#note({ ...state, phase: "lost" });
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

  async #read(head: WalHead | null, untilMs: number): Promise<void> {
    let state = await this.state();
    if (state === null) return;
    if (head !== null) {
      if (state.salts !== head.salts) {
        state = { ...state, salts: head.salts, frames: 0, sum: head.sum };
      }
      const frameBytes = FRAME_HEAD_BYTES + head.pageBytes;
      const log = `${this.options.path}-wal`;
      const end = await lastCommit(log, head, state);
      const readMs = this.options.clock.now();
      while (state.frames < end) {
        const count = Math.min(end - state.frames, Math.max(1, Math.floor(PIECE_BYTES / frameBytes)));
        const bytes = await readPart(log, WAL_HEAD_BYTES + state.frames * frameBytes, count * frameBytes);
        const walk = walkFrames(bytes, head, state.sum);
        if (walk.frames < count) throw new Error("the log has changed while it was read");
        state = await this.#addSegment(state, { head, bytes, sum: walk.sum, count, readMs });
      }
    }
    await this.#note({ ...state, untilMs });
  }

  async #addSegment(
    state: ArchiveState,
    { head, bytes, sum, count, readMs }: {
      readonly head: WalHead;
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly sum: WalSum;
      readonly count: number;
      readonly readMs: number;
    },
  ): Promise<ArchiveState> {
    const { pageBytes, salts, bigEndian } = head;
    const told: SegmentHead = { pageBytes, salts, bigEndian, sum: state.sum, firstFrame: state.frames };
    const line = new TextEncoder().encode(`${JSON.stringify(told)}\n`);
    const whole = new Uint8Array(line.length + bytes.length);
    whole.set(line);
    whole.set(bytes, line.length);
    const number = state.segments;
    await this.#spool(state, { epoch: state.epoch, kind: "wal", number, readMs }, await pack(whole));
    const next = {
      ...state,
      segments: number + 1,
      spooled: state.spooled + 1,
      frames: state.frames + count,
      sum,
      walBytes: state.walBytes + bytes.length,
      pageBytes,
    };
    await this.#note(next);
    return next;
  }

  /** Begins an epoch: its base is the file as it is, which nobody changes but this. */
  async #begin(head: WalHead | null, after: After, untilMs: number): Promise<void> {
    const { path, databaseId } = this.options;
    const file = await fileState(path);
    if (file === null) return;
    const epoch = epochName(after.number);
    let spooled = (await this.state())?.spooled ?? 0;
    const size = Number(file.split(":")[2]);
    let pieces = 0;
    for (let at = 0; at < size; at += PIECE_BYTES) {
      const bytes = await readPart(path, at, Math.min(PIECE_BYTES, size - at));
      await this.#spool(
        { spooled },
        { epoch, kind: "base", number: pieces++, readMs: 0 },
        await pack(bytes),
      );
      spooled++;
    }
    if (await fileState(path) !== file) throw new Error("the file has changed while it was read");
    const begin = epochBegin(after, { databaseId, pieces, file, untilMs });
    const text = new TextEncoder().encode(JSON.stringify(begin));
    await this.#spool({ spooled }, { epoch, kind: "begin", number: 0, readMs: 0 }, text);
    await this.#note({
      epoch,
      segments: 0,
      spooled: spooled + 1,
      file,
      frames: 0,
      phase: "reads",
      salts: head?.salts ?? "",
      sum: head?.sum ?? [0, 0],
      pageBytes: head?.pageBytes ?? 0,
      baseAtMs: untilMs,
      baseBytes: size,
      walBytes: 0,
      untilMs: begin.atMs,
      sentUntilMs: (await this.state())?.sentUntilMs ?? begin.atMs,
    });
    await this.#read(head, untilMs);
  }

  async #afterGap(state: ArchiveState | null): Promise<After> {
    if (state !== null) return gapAfter({ ...state, untilMs: state.sentUntilMs });
    return await afterStored(this.options.store, this.options.databaseId);
  }

  async #spool(
    { spooled }: Pick<ArchiveState, "spooled">,
    name: Omit<ArchiveName, "sha256">,
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<void> {
    await this.#folder.add(spooled, { ...name, sha256: digestOf(bytes) }, bytes);
  }

  async #note(state: ArchiveState): Promise<void> {
    this.#state = state;
    await this.#folder.write(state);
  }
}
