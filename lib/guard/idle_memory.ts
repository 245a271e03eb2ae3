// Gives memory back to the system while nobody calls. The runtime collects garbage when it needs room, so a service at rest
// would keep for ever what its start, or the last load, has left: 15 to 60 MB.
import process from "node:process";

/** Milliseconds between two looks. */
export const IDLE_LOOK_MS = 5_000;
/** Part of a processor that a process at rest may use: to empty the spool takes some 3 %, and sockets work without requests. */
const IDLE_PART = 0.05;
/** So many calls between two looks, twenty a second, are a load. Those of a load balancer that asks for the health are none. */
const LOAD_CALLS = 100;
/**
 * A collection throws away the code that V8 has compiled for a load, and calls of the next load take 20 ms in its first second.
 * So none takes place in so many looks, a minute, behind a load.
 */
const WARM_LOOKS = 12;
/** Bytes on the heap since the last collection that are worth one, which takes 60 to 80 ms. */
const WORTH_BYTES = 8 * 1024 * 1024;
/** Bytes on the heap from which a start collects: it has read a long spool, and would else keep that garbage for a whole load. */
const LONG_START_BYTES = 64 * 1024 * 1024;

/** The process, as this sees it. */
export interface OwnProcess {
  /** Milliseconds of processor time that it has used. */
  cpuMs(): number;
  heapBytes(): number;
  /** Null where the runtime was started without `--expose-gc`, and on a platform. */
  readonly collect: (() => void) | null;
}

/** This process. */
export function ownProcess(): OwnProcess {
  const collect: unknown = Reflect.get(globalThis, "gc");
  return {
    cpuMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    heapBytes: () => Deno.memoryUsage().heapUsed,
    // Only this kind of collection gives free pages back to the system.
    collect: typeof collect === "function"
      ? () => void collect({ type: "major", flavor: "last-resort" })
      : null,
  };
}

/** Collects garbage when there was nothing to do between two looks, and no load for a minute. */
export class IdleMemory {
  /** Since the last look; the start counts as one. */
  #calls = 1;
  #looksSinceLoad = WARM_LOOKS;
  #cpuMs = 0;
  #heapBytes = 0;

  constructor(private readonly own: OwnProcess) {}

  noteCall(): void {
    this.#calls++;
  }

  /** To be called when the service has started. */
  noteStart(): void {
    if (this.own.heapBytes() >= LONG_START_BYTES) this.#collect();
  }

  /** To be called every `IDLE_LOOK_MS`. */
  look(): void {
    const cpuMs = this.own.cpuMs();
    const isIdle = this.#calls === 0 && cpuMs - this.#cpuMs < IDLE_LOOK_MS * IDLE_PART;
    this.#looksSinceLoad = this.#calls >= LOAD_CALLS ? 0 : this.#looksSinceLoad + 1;
    this.#calls = 0;
    this.#cpuMs = cpuMs;
    if (
      !isIdle || this.#looksSinceLoad < WARM_LOOKS || this.own.heapBytes() - this.#heapBytes < WORTH_BYTES
    ) return;
    this.#collect();
  }

  #collect(): void {
    this.own.collect?.();
    this.#heapBytes = this.own.heapBytes();
  }
}
