// Work on many things of which one may fail: what cannot be done must not keep the others from being done.

/** Throws the first failure, once all were tried. */
export async function tryEach<T>(
  things: Iterable<T> | AsyncIterable<T>,
  work: (thing: T) => Promise<unknown>,
): Promise<void> {
  const failures: unknown[] = [];
  for await (const thing of things) await work(thing).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
