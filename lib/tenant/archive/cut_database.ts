// Makes bases and segments of a database's file and its write-ahead log, and puts them into the spool. It runs in the packer:
// checksums, digests and packing are no work for the process that answers calls.
import { systemClock } from "../../core/clock.ts";
import { type ArchiveName, epochName, type SegmentHead } from "./archive_names.ts";
import {
  type After,
  behindFile,
  epochBegin,
  follows,
  gapAfter,
  goesOn,
  needsBase,
  stillHolds,
} from "./epoch_turns.ts";
import { ArchiveFolder, type ArchiveState } from "./archive_state.ts";
import type { CutAnswer, CutJob } from "./cut_job.ts";
import { digestOf } from "./digest.ts";
import { fileState, readLogHead, readPart } from "./file_parts.ts";
import { pack, packLog } from "./packed.ts";
import { LogFrames } from "./read_log.ts";
import { FRAME_HEAD_BYTES, type WalHead } from "../wal_frames.ts";

/** Bytes of a piece of a base, and of a segment, before they are packed. */
const PIECE_BYTES = 4 * 1024 * 1024;

/** Does a job. Never rejects. */
export async function cutDatabase(job: CutJob): Promise<CutAnswer> {
  try {
    return { state: await new Cut(job).run() };
  } catch (error) {
    return { failed: error instanceof Error ? error.name : "" };
  }
}

/** One job. Its state is noted at the end, once: what an end before that leaves in the spool is taken away, and read again. */
class Cut {
  readonly #folder: ArchiveFolder;
  #spooled: number;

  constructor(private readonly job: CutJob) {
    this.#folder = new ArchiveFolder(job.folder);
    this.#spooled = job.state?.spooled ?? 0;
  }

  async run(): Promise<ArchiveState | null> {
    const { state, path, work } = this.job;
    const file = await fileState(path);
    if (work.kind === "folded") {
      if (state === null || state.phase === "lost" || file === null) return state;
      const log = work.frames === null
        ? { salts: "", frames: 0, inFile: 0 }
        : { inFile: Math.max(state.inFile ?? 0, work.frames) };
      return await this.#note({ ...state, ...log, file, phase: "reads" });
    }
    const read = file === null ? state : await this.#read(file);
    if (read === null || read.phase === "lost") return read;
    const now = { ...read, phase: work.then ?? read.phase };
    // Times alone are noted with what comes next: who begins with earlier ones tells of less than there is.
    return tells(now) === (state && tells(state)) ? now : await this.#note(now);
  }

  async #read(file: string): Promise<ArchiveState> {
    const { path, state, nowMs, after } = this.job;
    const head = await readLogHead(path);
    if (state === null || state.phase === "lost") {
      if (after === null) throw new TypeError("a first epoch comes after something");
      return await this.#begin(head, after, file);
    }
    if (!goesOn(state, file, head) || !await stillHolds(`${path}-wal`, head, state)) {
      return await this.#begin(head, state.phase === "replaced" ? follows(state) : gapAfter(state), file);
    }
    const now = await this.#addFrames({ ...state, file, phase: "reads" }, head);
    return needsBase(now, nowMs) ? await this.#begin(await readLogHead(path), follows(now), file, now) : now;
  }

  async #addFrames(state: ArchiveState, head: WalHead | null): Promise<ArchiveState> {
    const untilMs = this.job.nowMs;
    if (head === null) return { ...state, untilMs };
    let now = state.salts === head.salts
      ? state
      : { ...state, salts: head.salts, frames: 0, inFile: 0, sum: head.sum };
    using frames = new LogFrames(`${this.job.path}-wal`, head, now);
    // What is read together has one time: a moment takes the next times behind it, however many pieces have them.
    const readMs = systemClock.now() + this.job.aheadMs;
    const most = Math.max(1, Math.floor(PIECE_BYTES / (FRAME_HEAD_BYTES + head.pageBytes)));
    for (let first = 0; first < frames.count; first += most) {
      const count = Math.min(most, frames.count - first);
      now = await this.#addSegment(now, { head, frames, first, count, readMs });
    }
    return { ...now, untilMs };
  }

  async #addSegment(
    state: ArchiveState,
    { head, frames, first, count, readMs }: {
      readonly head: WalHead;
      readonly frames: LogFrames;
      readonly first: number;
      readonly count: number;
      readonly readMs: number;
    },
  ): Promise<ArchiveState> {
    const { pageBytes, salts, bigEndian } = head;
    const told: SegmentHead = { pageBytes, salts, bigEndian, sum: state.sum, firstFrame: state.frames };
    const line = new TextEncoder().encode(`${JSON.stringify(told)}\n`);
    const { packed, sum } = frames.piece({ first, count, line, sum: state.sum }, packLog);
    const number = state.segments;
    await this.#spool({ epoch: state.epoch, kind: "wal", number, readMs }, packed);
    return {
      ...state,
      segments: number + 1,
      frames: state.frames + count,
      sum,
      walBytes: state.walBytes + count * (FRAME_HEAD_BYTES + pageBytes),
      pageBytes,
    };
  }

  /** Begins an epoch: its base is the file as it is, which nobody changes but this. */
  async #begin(
    head: WalHead | null,
    after: After,
    file: string,
    state = this.job.state,
  ): Promise<ArchiveState> {
    const { path, databaseId, nowMs } = this.job;
    const epoch = epochName(after.number);
    const size = Number(file.split(":")[2]);
    let pieces = 0;
    for (let at = 0; at < size; at += PIECE_BYTES) {
      const bytes = await readPart(path, at, Math.min(PIECE_BYTES, size - at));
      await this.#spool({ epoch, kind: "base", number: pieces++, readMs: 0 }, pack(bytes));
    }
    if (await fileState(path) !== file) throw new Error("the file has changed while it was read");
    const begin = epochBegin(after, { databaseId, pieces, file, untilMs: nowMs });
    const text = new TextEncoder().encode(JSON.stringify(begin));
    await this.#spool({ epoch, kind: "begin", number: 0, readMs: 0 }, text);
    const begun: ArchiveState = {
      epoch,
      segments: 0,
      spooled: this.#spooled,
      file,
      ...await behindFile(`${path}-wal`, head, { state, file }),
      phase: "reads",
      pageBytes: head?.pageBytes ?? 0,
      baseAtMs: nowMs,
      baseBytes: size,
      walBytes: 0,
      untilMs: begin.atMs,
      sentUntilMs: state ? Math.min(state.sentUntilMs, after.gapFromMs ?? Infinity) : begin.atMs,
    };
    return await this.#addFrames(begun, head);
  }

  async #spool(name: Omit<ArchiveName, "sha256">, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#folder.add(this.#spooled++, { ...name, sha256: digestOf(bytes) }, bytes);
  }

  async #note(state: ArchiveState): Promise<ArchiveState> {
    const noted = { ...state, spooled: this.#spooled };
    await this.#folder.write(noted);
    return noted;
  }
}

/** What a state tells beside times. */
function tells({ untilMs: _, sentUntilMs: __, ...rest }: ArchiveState): string {
  return JSON.stringify(rest);
}
