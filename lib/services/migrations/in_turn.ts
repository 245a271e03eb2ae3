// One at a time: for each database that files are applied to, as who waits then finds nothing to do; for each namespace that
// rehearses, as each rehearsal takes a copy.

const last = new Map<string, Promise<unknown>>();

/** Does the work when all that was asked for before it in this process is done. */
export async function inTurn<T>(of: string, work: () => Promise<T>): Promise<T> {
  const own = (last.get(of) ?? Promise.resolve()).then(work);
  const ended = own.catch(() => {});
  last.set(of, ended);
  try {
    return await own;
  } finally {
    if (last.get(of) === ended) last.delete(of);
  }
}
