// One at a time for each database: who applies migrations while somebody else does waits, and then finds nothing to do.

const last = new Map<string, Promise<unknown>>();

/** Does the work when all that was asked for before it in this process is done. */
export async function inTurn<T>(databaseId: string, work: () => Promise<T>): Promise<T> {
  const own = (last.get(databaseId) ?? Promise.resolve()).then(work);
  const ended = own.catch(() => {});
  last.set(databaseId, ended);
  try {
    return await own;
  } finally {
    if (last.get(databaseId) === ended) last.delete(databaseId);
  }
}
