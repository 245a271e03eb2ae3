// Files and folders that may be missing, because nobody has made them yet or another process has removed them.

/** What is read of a file or a folder; null where it is missing. */
export async function ifThere<Value>(read: Promise<Value>): Promise<Value | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** The entries of a folder; none where it is missing. */
export async function* entriesOf(folder: string): AsyncGenerator<Deno.DirEntry> {
  try {
    yield* Deno.readDir(folder);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Removes a file, or a folder with its content. */
export async function removeIfThere(path: string): Promise<void> {
  await ifThere(Deno.remove(path, { recursive: true }));
}

/** False where nothing has the name; what cannot be looked at counts as there. */
export async function isThere(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, (error) => !(error instanceof Deno.errors.NotFound));
}
