// Long work in pieces, between which the service does other work.
import { setImmediate } from "node:timers/promises";

let last: Promise<unknown> = Promise.resolve();

/** Waits for a turn of the event loop in which nobody else does a piece of such work. */
export function ownTurn(): Promise<unknown> {
  last = last.then(() => setImmediate());
  return last;
}
