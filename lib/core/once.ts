// Work that is done at its first use and kept: a module that is loaded, a lock that is taken.

/**
 * Makes the value at the first call, for all calls. A failure is told to those who wait for it and then forgotten: kept, it
 * would be the answer until the process ends.
 */
export function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | null = null;
  return () =>
    made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    });
}
