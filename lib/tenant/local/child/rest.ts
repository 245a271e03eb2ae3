// Short rests in work for which nobody waits.

const nap = new Int32Array(new SharedArrayBuffer(4));
/** Milliseconds, of which the system makes some 0.1. */
const REST_MS = 0.05;

/**
 * Gives the processor away: the service, which answers look-ups itself, may be waiting for the one that this process has,
 * and would else get it back only when all of the work is done.
 */
export function rest(): void {
  Atomics.wait(nap, 0, 0, REST_MS);
}
