// Ends sockets on which a message does not end. The runtime (2.9) puts the parts of a message together before it tells of any of
// them, however many there are: what they take is seen in the memory of the process alone, and as long as they come no other
// message does on their socket.
import { MAX_UNFINISHED_BYTES, STRANGER_CLOSE_MS } from "../../core/limits_hrana.ts";
import type { OpenSocket } from "./open_sockets.ts";

/** What it looks at. */
export interface UnfinishedParts {
  readonly sockets: Iterable<OpenSocket>;
  /** Bytes that the process has outside of JavaScript's memory. */
  readonly nativeBytes: () => number;
}

/** The memory of the process, less what is JavaScript's: the parts of a message are none of it yet. */
export function nativeBytes(): number {
  const { rss, heapTotal, external } = Deno.memoryUsage();
  return rss - heapTotal - external;
}

/** What the last looks have seen. */
export class UnfinishedMessages {
  #lowest = Infinity;
  #heard = new Map<OpenSocket, number>();

  constructor(private readonly parts: UnfinishedParts) {}

  /**
   * To be called every second. Where the memory has grown too much since there were sockets, it ends those on which nothing
   * was heard since the look before, and answers their number. Clients that are there open others; what is left is not theirs.
   */
  look(): number {
    const before = this.#heard;
    this.#heard = new Map([...this.parts.sockets].map((one) => [one, one.heard]));
    if (this.#heard.size === 0) {
      this.#lowest = Infinity;
      return 0;
    }
    const bytes = this.parts.nativeBytes();
    this.#lowest = Math.min(this.#lowest, bytes);
    if (bytes - this.#lowest <= MAX_UNFINISHED_BYTES) return 0;
    const silent = [...this.#heard].filter(([one, heard]) => before.get(one) === heard);
    for (const [one] of silent) {
      one.end("Memory is short: end your message, or open another socket", STRANGER_CLOSE_MS);
    }
    if (silent.length > 0) this.#lowest = Infinity;
    return silent.length;
  }
}
