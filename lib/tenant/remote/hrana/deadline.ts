// Work against a remote engine that ends at a deadline, or when nobody waits for it any more: the request is aborted, and
// the server stops the statement because its client has gone.
import { RemoteFailure } from "./remote_failure.ts";

/**
 * Milliseconds that work goes on when nobody waits for it any more. An answer that is on its way names the stream: were
 * it thrown away, nobody could end the stream's transaction, which holds up every writer of the database for 5 s.
 */
const FINISH_MS = 1000;

/** Thrown instead of the failure that our own abort has caused. */
export class Stopped extends Error {
  override readonly name = "Stopped";

  constructor(readonly why: "timeout" | "nobody_waits" | "gives_way") {
    super(why);
  }
}

/**
 * Throws `Stopped`, where somebody had left before it began without doing any of it, or what the work throws. `giveWay`
 * stops it at once.
 */
export async function withDeadline<T>(
  ms: number,
  waiting: readonly (AbortSignal | null)[],
  work: (signal: AbortSignal) => Promise<T>,
  giveWay: AbortSignal | null = null,
): Promise<T> {
  const hasLeft = () => waiting.some((signal) => signal?.aborted);
  if (hasLeft()) throw new Stopped("nobody_waits");
  if (giveWay?.aborted) throw new Stopped("gives_way");
  const controller = new AbortController();
  let why: Stopped["why"] | null = null;
  const stop = () => {
    why ??= giveWay?.aborted ? "gives_way" : hasLeft() ? "nobody_waits" : "timeout";
    controller.abort(new Stopped(why));
  };
  const timers = [setTimeout(stop, ms)];
  const left = () => timers.push(setTimeout(stop, FINISH_MS));
  for (const signal of waiting) signal?.addEventListener("abort", left);
  giveWay?.addEventListener("abort", stop);
  try {
    return await work(controller.signal);
  } catch (error) {
    if (why !== null && error instanceof RemoteFailure) throw new Stopped(why);
    throw error;
  } finally {
    for (const timer of timers) clearTimeout(timer);
    for (const signal of waiting) signal?.removeEventListener("abort", left);
    giveWay?.removeEventListener("abort", stop);
  }
}
