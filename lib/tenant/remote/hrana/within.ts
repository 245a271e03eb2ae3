/** What the work resolves with; null: it took longer than `ms`, and what comes later is thrown away. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => timer = setTimeout(() => resolve(null), ms));
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
