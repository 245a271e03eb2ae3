/** Does the work for each number below `count`, in their order, up to `atOnce` at a time. */
export async function inParallel(
  atOnce: number,
  count: number,
  work: (at: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < count; at = next++) await work(at);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
