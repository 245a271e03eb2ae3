// Works on many things of which some may fail.

/** Works on each thing, so that one failure keeps no other thing from being done. Throws the first failure at the end. */
export async function tryEach<T>(
  things: Iterable<T> | AsyncIterable<T>,
  work: (thing: T) => Promise<unknown>,
): Promise<void> {
  const failures: unknown[] = [];
  for await (const thing of things) await work(thing).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
