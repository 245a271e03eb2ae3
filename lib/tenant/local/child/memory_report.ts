// Tells the service how much memory and processor time this child has taken, also while the engine is inside a statement:
// a thread of its own writes it to the head of the progress file. It sleeps while there is nothing to do.

/** Frames begun and ended so far: odd while one is under way. */
const FRAMES = 0;
/** 1 while the thread waits for the next frame. */
const ASLEEP = 1;

/** The report of this child. */
export class MemoryReport {
  readonly #shared = new Int32Array(new SharedArrayBuffer(12));

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

  frameEnds(): void {
    Atomics.add(this.#shared, FRAMES, 1);
  }
}

/**
 * The thread: may use nothing from outside of itself. It writes what `PROGRESS_HEAD_BYTES` says.
 */
function reportMemory(): void {
  const [frames, asleep, never, everyMs] = [0, 1, 2, 20];
  globalThis.addEventListener("message", async (event) => {
    if (!(event instanceof MessageEvent)) return;
    const [path, shared]: [string, Int32Array] = event.data;
    const { default: process } = await import("node:process");
    const file = Deno.openSync(path, { write: true });
    const record = new DataView(new ArrayBuffer(20));
    for (let count = 1;; count++) {
      record.setFloat64(0, Deno.memoryUsage().rss);
      const { user, system } = process.cpuUsage();
      record.setFloat64(8, (user + system) / 1000);
      record.setUint32(16, count % 2 ** 32);
      file.seekSync(0, Deno.SeekMode.Start);
      file.writeSync(new Uint8Array(record.buffer));
      const seen = Atomics.load(shared, frames);
      if (seen % 2 === 0) {
        Atomics.store(shared, asleep, 1);
        Atomics.wait(shared, frames, seen);
        Atomics.store(shared, asleep, 0);
      }
      Atomics.wait(shared, never, 0, everyMs);
    }
  }, { once: true });
}
