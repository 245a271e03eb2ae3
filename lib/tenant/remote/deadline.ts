// Work against a remote engine that ends at a deadline or when nobody waits for it any more: the request is aborted, and
// the server stops the statement because its client has gone.
import { RemoteFailure } from "./remote_failure.ts";

/** Thrown instead of the failure that our own abort has caused. */
export class Stopped extends Error {
  override readonly name = "Stopped";

  constructor(readonly why: "timeout" | "nobody_waits") {
    super(why);
  }
}

/** Throws `Stopped`, or what the work throws. */
export async function withDeadline<T>(
  ms: number,
  waiting: readonly (AbortSignal | null)[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  let why: Stopped["why"] | null = null;
  const stop = (reason: Stopped["why"]) => {
    why ??= reason;
    controller.abort(new Stopped(why));
  };
  const left = () => stop("nobody_waits");
  const timer = setTimeout(() => stop("timeout"), ms);
  for (const signal of waiting) {
    if (signal?.aborted) left();
    signal?.addEventListener("abort", left);
  }
  try {
    return await work(controller.signal);
  } catch (error) {
    if (why !== null && error instanceof RemoteFailure) throw new Stopped(why);
    throw error;
  } finally {
    clearTimeout(timer);
    for (const signal of waiting) signal?.removeEventListener("abort", left);
  }
}
