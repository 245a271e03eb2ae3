// Files with secrets are their owner's alone, whatever the folder lets others do.

/** What SQLite has beside a database; it gives them the rights of that. */
const BESIDE = ["", "-wal", "-shm"];

/**
 * Makes an empty file if the database is missing, and takes away what others may do with one that is there. Errors: those of
 * making a file.
 */
export async function keepPrivate(path: string): Promise<void> {
  try {
    using _made = await Deno.open(path, { createNew: true, write: true, mode: 0o600 });
    return;
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
  for (const end of BESIDE) await takeAway(path + end);
}

/** Of a file of another user nothing can be taken away, and no service is kept from starting by it. */
async function takeAway(path: string): Promise<void> {
  const mode = await Deno.stat(path).then((stat) => stat.mode, () => null);
  if (mode !== null && (mode & 0o077) !== 0) await Deno.chmod(path, mode & 0o700).catch(() => {});
}
