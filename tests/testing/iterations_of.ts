// Counts what the hashing of passwords computes, because its time depends on what else the machine does.

/** What `work` derives, in iterations of one block of 32 bytes. */
export async function iterationsOf(work: () => Promise<unknown>): Promise<number> {
  const { subtle } = crypto;
  let count = 0;
  const counting: SubtleCrypto["deriveBits"] = (how, key, bits) => {
    const iterations = typeof how === "object" && "iterations" in how ? how.iterations : 0;
    // The page scripts of the console bring the browser's declarations, where the length may be left out.
    const length = bits ?? 0;
    count += Number(iterations) * Math.ceil(length / 256);
    return SubtleCrypto.prototype.deriveBits.call(subtle, how, key, length);
  };
  Object.defineProperty(subtle, "deriveBits", { value: counting, configurable: true });
  try {
    await work();
  } finally {
    Reflect.deleteProperty(subtle, "deriveBits");
  }
  return count;
}
