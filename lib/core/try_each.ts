// Works on many things of which some may fail.

/**
 * Works on each thing, so that one failure keeps no other thing from being done, on up to `atOnce` of them at a time. Throws
 * the first failure at the end.
 */
export async function tryEach<T>(
  things: Iterable<T> | AsyncIterable<T>,
  work: (thing: T) => Promise<unknown>,
  atOnce = 1,
): Promise<void> {
  const failures: unknown[] = [];
  const underWay = new Set<Promise<unknown>>();
  try {
    for await (const thing of things) {
      const done = work(thing).catch((error: unknown) => failures.push(error)).finally(() =>
        underWay.delete(done)
      );
      underWay.add(done);
      if (underWay.size >= atOnce) await Promise.race(underWay);
    }
  } finally {
    await Promise.all(underWay);
  }
  if (failures.length > 0) throw failures[0];
}
