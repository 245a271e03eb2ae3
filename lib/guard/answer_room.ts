// Bounds what answers take that their clients have not taken yet. Ordinary ones are given to the runtime whole, which is
// quickest, as long as there is memory for them; the others leave in pieces as the client takes them, from memory or, where
// that is full, from a file that has no name any more. Where the disk's part is full too, the answer goes whose client has
// taken nothing for longest. What a call has done is done before: no commit and no log row waits for a client.
import { reasonOf } from "../core/attempt.ts";
import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import { writeAll } from "../store/write_all.ts";

/** Bounds of answers, in bytes. */
export interface AnswerLimits {
  /** Answers of up to so many take no room. */
  readonly freeBytes: number;
  /** The largest that the runtime is given whole. */
  readonly wholeBytes: number;
  readonly memoryBytes: number;
  /** Of both of which those of one owner may have half, where others have some. */
  readonly diskBytes: number;
  readonly diskFiles: number;
  /** Milliseconds in which a client must take some piece. */
  readonly stallMs: number;
}

/** For whom an answer is held. */
export interface AnswerClient {
  /** Who answers for it: a namespace, or an address. */
  readonly owner: string;
  /** Ends the connection, also in the middle of an answer. */
  end(): void;
}

export interface AnswerRoomOptions {
  readonly limits: AnswerLimits;
  /** Where files may be made. */
  readonly folder: string;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Log;
}

/** Bytes of a piece. */
const PIECE_BYTES = 262_144;

type Part = "memory" | "disk";

interface Held {
  readonly client: AnswerClient;
  part: Part;
  readonly sizeBytes: number;
  takenMs: number;
  /** Told whole: only the connection knows when it is taken. */
  readonly isWhole: boolean;
  source: Source | null;
}

/** The answers of one service. */
export class AnswerRoom {
  readonly #held = new Set<Held>();
  readonly #used: Record<Part, number> = { memory: 0, disk: 0 };
  readonly #spooling = new Set<Promise<void>>();

  constructor(private readonly options: AnswerRoomOptions) {}

  /** Bytes that are held. */
  get used(): Readonly<Record<Part, number>> {
    return this.#used;
  }

  /** Counts an answer that is given to the runtime whole until `leave` is called; null: it is to be sent in pieces. */
  holdWhole(sizeBytes: number, client: AnswerClient): { leave(): void } | null {
    const { wholeBytes, memoryBytes } = this.options.limits;
    if (sizeBytes > wholeBytes || this.#used.memory + sizeBytes > memoryBytes) return null;
    const held = this.#enter({ client, part: "memory", sizeBytes, isWhole: true, source: null });
    return { leave: () => this.#leave(held) };
  }

  /** An answer that leaves as its client takes it. */
  pieces(bytes: Uint8Array<ArrayBuffer>, client: AnswerClient): ReadableStream<Uint8Array<ArrayBuffer>> {
    const inMemory = this.#used.memory + bytes.length <= this.options.limits.memoryBytes;
    const part = inMemory ? "memory" : "disk";
    this.#makeRoom(part, bytes.length, client.owner);
    // The stream must not name `bytes`: it would keep them for as long as it lives.
    const memory = memorySource(bytes);
    const held = this.#enter({ client, part, sizeBytes: bytes.length, isWhole: false, source: memory });
    return new ReadableStream({
      start: () => inMemory ? undefined : this.#spool(held, memory),
      pull: async (controller) => {
        const piece = await this.#next(held);
        if (piece !== null) return controller.enqueue(piece);
        this.#leave(held);
        controller.close();
      },
      cancel: () => this.#leave(held),
    }, { highWaterMark: 0 });
  }

  /** Ends clients who take nothing. For a timer. */
  sweep(): void {
    const { clock, limits: { stallMs } } = this.options;
    const oldestMs = clock.monotonicMs() - stallMs;
    for (const held of this.#held) {
      // Those that went out whole are ended by their connection's own watch.
      if (!held.isWhole && held.takenMs < oldestMs) this.#end(held);
    }
  }

  #enter(held: Omit<Held, "takenMs">): Held {
    const entered = { ...held, takenMs: this.options.clock.monotonicMs() };
    this.#held.add(entered);
    this.#used[entered.part] += entered.sizeBytes;
    return entered;
  }

  /** Throws where the answer was ended or cannot be read any more: its client must not take a part for the whole. */
  async #next(held: Held): Promise<Uint8Array<ArrayBuffer> | null> {
    try {
      const piece = await held.source?.next();
      if (piece === undefined || !this.#held.has(held)) throw new Error("answer ended");
      held.takenMs = this.options.clock.monotonicMs();
      return piece;
    } catch (error) {
      this.#leave(held);
      throw error;
    }
  }

  /** Not every answer is cancelled whose client has gone: its file is closed here. */
  #leave(held: Held): void {
    if (this.#held.delete(held)) this.#used[held.part] -= held.sizeBytes;
    held.source?.close();
    held.source = null;
  }

  #end(held: Held): void {
    this.#leave(held);
    held.client.end();
  }

  /** Resolves when no file is on its way, as those of answers may be that were ended meanwhile. */
  async settled(): Promise<void> {
    await Promise.all(this.#spooling);
  }

  #spool(held: Held, memory: MemorySource): Promise<void> {
    const spooled = this.#toDisk(held, memory).then((source) => {
      this.#spooling.delete(spooled);
      // Its client has gone, or was ended, meanwhile.
      if (this.#held.has(held)) held.source = source;
      else source.close();
    });
    this.#spooling.add(spooled);
    return spooled;
  }

  /** A disk that takes nothing leaves the answer in memory. */
  async #toDisk(held: Held, source: MemorySource): Promise<Source> {
    try {
      const file = await fileSource(this.options.folder, source.all());
      source.close();
      return file;
    } catch (error) {
      this.options.log("warn", "answer_not_spooled", { error: reasonOf(error) });
      if (!this.#held.has(held)) return source;
      this.#held.delete(held);
      this.#used.disk -= held.sizeBytes;
      held.part = "memory";
      this.#makeRoom("memory", held.sizeBytes, held.client.owner);
      this.#held.add(held);
      this.#used.memory += held.sizeBytes;
      return source;
    }
  }

  #makeRoom(part: Part, bytes: number, owner: string): void {
    const { limits } = this.options;
    const most = part === "memory" ? limits.memoryBytes : limits.diskBytes;
    for (;;) {
      const there = [...this.#held].filter((held) => held.part === part);
      const hasFiles = part === "memory" || there.length < limits.diskFiles;
      if (hasFiles && this.#used[part] + bytes <= most) return;
      const own = there.filter(({ client }) => client.owner === owner);
      const ownBytes = own.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      const isMuch = ownBytes + bytes > most / 2 || (part === "disk" && own.length >= limits.diskFiles / 2);
      const from = isMuch && own.length > 0 ? own : there;
      const [first, ...others] = from;
      if (!first) return;
      this.#end(others.reduce((oldest, one) => one.takenMs < oldest.takenMs ? one : oldest, first));
    }
  }
}

/** Where the pieces of one answer come from. */
interface Source {
  /** Null: that was all. */
  next(): Promise<Uint8Array<ArrayBuffer> | null>;
  close(): void;
}

interface MemorySource extends Source {
  all(): Uint8Array<ArrayBuffer>;
}

function memorySource(all: Uint8Array<ArrayBuffer>): MemorySource {
  let bytes: Uint8Array<ArrayBuffer> | null = all;
  let at = 0;
  return {
    all: () => bytes ?? new Uint8Array(0),
    next: () => {
      const piece = bytes?.subarray(at, at += PIECE_BYTES) ?? null;
      return Promise.resolve(piece?.length ? piece : null);
    },
    close: () => void (bytes = null),
  };
}

/** The file loses its name at once: whatever ends the process, nothing of it is left. */
async function fileSource(folder: string, bytes: Uint8Array<ArrayBuffer>): Promise<Source> {
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const file = await openNameless(await Deno.makeTempFile({ dir: folder }));
  try {
    await writeAll(file, bytes);
    await file.seek(0, Deno.SeekMode.Start);
  } catch (error) {
    file.close();
    throw error;
  }
  let closed = false;
  const close = () => {
    if (!closed) file.close();
    closed = true;
  };
  return {
    next: async () => {
      if (closed) return null;
      const piece = new Uint8Array(PIECE_BYTES);
      const count = await file.read(piece);
      return count === null ? null : piece.subarray(0, count);
    },
    close,
  };
}

async function openNameless(path: string): Promise<Deno.FsFile> {
  try {
    return await Deno.open(path, { read: true, write: true });
  } finally {
    await Deno.remove(path);
  }
}
