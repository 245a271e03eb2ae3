// Reads what comes next in a log: each byte once, into memory that stays, as long as it is no longer than that.
import type { ArchiveState } from "./archive_state.ts";
import { readInto } from "./file_parts.ts";
import { FRAME_HEAD_BYTES, WAL_HEAD_BYTES, type WalHead, walkFrames, type WalSum } from "../wal_frames.ts";

/** Bytes that are read at a time, because the rest of the file may be of an earlier log; and that stay in memory. */
const STEP_BYTES = 256 * 1024;
const ROOM_BYTES = 24 * 1024 * 1024;
/** Room before the first frame, for the line that a segment begins with. */
const LINE_BYTES = 1024;

/** Where what was read stands until it is packed: whoever reads takes it, and gives it back. */
let idleRoom: Uint8Array<ArrayBuffer> | null = null;

/** The frames of a log behind those that were read before. */
export class LogFrames {
  readonly #room: Uint8Array<ArrayBuffer>;
  readonly #frameBytes: number;
  readonly #file: Deno.FsFile;
  readonly #fitting: number;
  /** Frames that stand in the room. */
  #kept = 0;
  /** Frames up to the last one that ends a transaction. */
  readonly count: number;

  /** Reads to the end of what is committed. `from`: what was read before. */
  constructor(path: string, private readonly head: WalHead, private readonly from: ArchiveState) {
    this.#frameBytes = FRAME_HEAD_BYTES + head.pageBytes;
    this.#file = Deno.openSync(path);
    this.#room = idleRoom ?? new Uint8Array(LINE_BYTES + ROOM_BYTES);
    idleRoom = null;
    this.#fitting = Math.floor(ROOM_BYTES / this.#frameBytes);
    try {
      this.count = this.#readAll();
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * `line` and the frames from `first` on, packed by `pack` at once: they stand in the room. Pieces are asked for in their
   * order, each once. Returns the checksum after them too. `sum`: the one before. Throws where the log was changed.
   */
  piece<T>(
    { first, count, line, sum }: {
      readonly first: number;
      readonly count: number;
      readonly line: Uint8Array;
      readonly sum: WalSum;
    },
    pack: (bytes: Uint8Array<ArrayBuffer>) => T,
  ): { readonly packed: T; readonly sum: WalSum } {
    if (line.length > LINE_BYTES) throw new TypeError("the line of a segment is too long");
    const isKept = first + count <= this.#kept;
    const at = LINE_BYTES + (isKept ? first * this.#frameBytes : 0);
    const frames = this.#room.subarray(at, at + count * this.#frameBytes);
    if (!isKept) this.#readAgain(frames, { first, count, sum });
    // The end of the piece before stands there, which is packed.
    this.#room.set(line, at - line.length);
    const view = new DataView(frames.buffer, frames.byteOffset + (count - 1) * this.#frameBytes);
    return {
      packed: pack(this.#room.subarray(at - line.length, at + frames.length)),
      sum: [view.getUint32(16), view.getUint32(20)],
    };
  }

  [Symbol.dispose](): void {
    this.#file.close();
    idleRoom = this.#room;
  }

  #readAll(): number {
    let { sum } = this.from;
    let [frames, ended] = [0, 0];
    const step = Math.max(1, Math.floor(STEP_BYTES / this.#frameBytes));
    for (;;) {
      const fits = frames + step <= this.#fitting;
      // What no longer fits is read again for its piece, and stands behind what stays.
      const at = LINE_BYTES + (fits ? frames : this.#fitting - step) * this.#frameBytes;
      const into = this.#room.subarray(at, at + step * this.#frameBytes);
      const filled = this.#readInto(into, frames);
      const walk = walkFrames(into.subarray(0, filled), this.head, sum);
      const last = walk.commits.at(-1);
      if (last) ended = frames + last.frames;
      frames += walk.frames;
      sum = walk.sum;
      if (fits) this.#kept = frames;
      else this.#kept = Math.min(this.#kept, this.#fitting - step);
      if (walk.frames < step) return ended;
    }
  }

  #readAgain(
    frames: Uint8Array<ArrayBuffer>,
    { first, count, sum }: { readonly first: number; readonly count: number; readonly sum: WalSum },
  ): void {
    // From here on nothing that was kept stands where it was.
    this.#kept = 0;
    const filled = this.#readInto(frames, first);
    if (walkFrames(frames.subarray(0, filled), this.head, sum).frames < count) {
      throw new Error("the log has changed while it was read");
    }
  }

  #readInto(into: Uint8Array<ArrayBuffer>, first: number): number {
    return readInto(this.#file, WAL_HEAD_BYTES + (this.from.frames + first) * this.#frameBytes, into);
  }
}
