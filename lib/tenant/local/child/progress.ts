// Writes this child's progress file: before each statement its position in the frame, and every 20 ms of work the child's
// memory and, once a frame has lasted that long, its processor time and what it has written. The service polls the file while
// work lasts, and reads it once more when the child has ended, because the file outlives the process.
import { PROGRESS_FILE_BYTES, PROGRESS_HEAD_BYTES, PROGRESS_RECORD_BYTES, SETS_RUN } from "./protocol.ts";

/** Writes which statement runs. */
export class Progress {
  /** A record, and an empty one that follows it where it overwrites the first: records after it are older. */
  readonly #record = new DataView(new ArrayBuffer(2 * PROGRESS_RECORD_BYTES));
  readonly #next = new Uint8Array(this.#record.buffer, 0, PROGRESS_RECORD_BYTES);
  readonly #only = new Uint8Array(this.#record.buffer);
  #writtenBytes = PROGRESS_HEAD_BYTES;

  /** `memory`: its thread writes the set that runs, because a record for each set would take as long as the set. */
  constructor(private readonly file: Deno.FsFile, private readonly memory: Pick<MemoryReport, "startSet">) {}

  /** Call once before the statements of a frame. */
  startFrame(frame: number): void {
    this.file.seekSync(PROGRESS_HEAD_BYTES, Deno.SeekMode.Start);
    this.#writtenBytes = PROGRESS_HEAD_BYTES;
    this.#record.setUint32(0, frame);
  }

  /** A statement with parameter sets starts, or a call whose statements are noted as sets are. */
  startSets(call: number): void {
    this.memory.startSet(0);
    this.startStatement(call, SETS_RUN);
  }

  startSet(set: number): void {
    this.memory.startSet(set);
  }

  startStatement(call: number, statement: number): void {
    this.#record.setUint32(4, call);
    this.#record.setUint32(8, statement);
    if (this.#writtenBytes + PROGRESS_RECORD_BYTES <= PROGRESS_FILE_BYTES) {
      this.file.writeSync(this.#next);
      this.#writtenBytes += PROGRESS_RECORD_BYTES;
    } else {
      this.file.seekSync(PROGRESS_HEAD_BYTES, Deno.SeekMode.Start);
      this.file.writeSync(this.#only);
    }
  }
}

/** Position of the count of frames begun and ended so far, which is odd while a frame is served. */
const FRAMES = 0;
/** Position of a number that is 1 while the reporting thread waits for the next frame. */
const ASLEEP = 1;
/** Position of the parameter set that runs. */
const SET = 3;

/** Reports memory, processor time and what is written from a thread of its own, also while a statement runs. */
export class MemoryReport {
  readonly #shared = new Int32Array(new SharedArrayBuffer(16));

  /** `path`: the progress file. */
  constructor(path: string) {
    // The jail has no permission to read a module of the service, so the thread's code goes along as text.
    const source = new Blob([`(${reportMemory})()`], { type: "application/javascript" });
    const thread = new Worker(URL.createObjectURL(source), { type: "module", name: "memory" });
    thread.postMessage([path, this.#shared]);
  }

  frameBegins(): void {
    Atomics.add(this.#shared, FRAMES, 1);
    if (Atomics.load(this.#shared, ASLEEP) === 1) Atomics.notify(this.#shared, FRAMES);
  }

  startSet(set: number): void {
    Atomics.store(this.#shared, SET, set);
  }

  frameEnds(): void {
    Atomics.add(this.#shared, FRAMES, 1);
  }
}

/**
 * Runs in the thread, so it may use nothing that is declared outside of it. Writes the head that `PROGRESS_HEAD_BYTES`
 * describes. Only slow work is judged by its processor time and by what it writes, and to load the module that knows them takes a
 * fifth of a child's start, so it is loaded when a frame lasts for the first time.
 */
function reportMemory(): void {
  const [frames, asleep, never, set, everyMs] = [0, 1, 2, 3, 20];
  globalThis.addEventListener("message", async (event) => {
    if (!(event instanceof MessageEvent)) return;
    const [path, shared]: [string, Int32Array] = event.data;
    const file = Deno.openSync(path, { write: true });
    const record = new DataView(new ArrayBuffer(32));
    let process: { resourceUsage(): Record<"userCPUTime" | "systemCPUTime" | "fsWrite", number> } | null =
      null;
    let before = 0;
    for (let count = 1;; count++) {
      record.setFloat64(0, Deno.memoryUsage().rss);
      const used = process?.resourceUsage() ?? { userCPUTime: NaN, systemCPUTime: NaN, fsWrite: NaN };
      record.setFloat64(8, (used.userCPUTime + used.systemCPUTime) / 1000);
      // Blocks of 512 bytes, whatever the file system's are.
      record.setFloat64(16, used.fsWrite * 512);
      record.setUint32(24, count % 2 ** 32);
      record.setUint32(28, Atomics.load(shared, set));
      try {
        file.seekSync(0, Deno.SeekMode.Start);
        file.writeSync(new Uint8Array(record.buffer));
      } catch {
        // A disk that takes no write, which a statement finds out as well. A child that goes on without a report is ended.
      }
      const seen = Atomics.load(shared, frames);
      if (seen % 2 === 0) {
        Atomics.store(shared, asleep, 1);
        Atomics.wait(shared, frames, seen);
        Atomics.store(shared, asleep, 0);
      } else if (seen === before) process ??= (await import("node:process")).default;
      before = Atomics.load(shared, frames);
      Atomics.wait(shared, never, 0, everyMs);
    }
  }, { once: true });
}
