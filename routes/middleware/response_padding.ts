// Gives each connection's first answer a long head, so that the answers after it leave in one piece.
import type { Clock } from "../../lib/core/clock.ts";

/**
 * Deno's server (2.9) sends head and body together where both fit the connection's write buffer: 512 bytes, that grow
 * when a head is longer and never shrink. Two packets cost the service, the kernel and the client about 7 µs an answer,
 * a sixth of a point read.
 */
const PADDING = "-".repeat(1000);
/** Seconds after which a port may be another connection's, and gets its long head again. */
const AGAIN_SEC = 60;
const PORTS = 1 << 16;

export class ResponsePadding {
  /** When the connection from a port last had its long head, in seconds; connections that share a number share an entry. */
  readonly #sinceSec = new Int32Array(PORTS).fill(-AGAIN_SEC);

  constructor(private readonly clock: Clock) {}

  /** The value of `X-Padding` for this answer, or null where the connection has had it. */
  padding(port: number): string | null {
    const nowSec = Math.floor(this.clock.monotonicMs() / 1000);
    const index = port % PORTS;
    if (nowSec - (this.#sinceSec[index] ?? 0) < AGAIN_SEC) return null;
    this.#sinceSec[index] = nowSec;
    return PADDING;
  }
}
