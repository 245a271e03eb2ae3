// Checks that a database's file exists before the engine opens it: the engine would take a missing or empty file for a
// new database.

/** Thrown where a database's file is missing or empty. */
export class FileDamage extends Error {
  override readonly name = "FileDamage";
}

/**
 * Returns a text that identifies the file at `path`; another file has another text. Throws `FileDamage` for a missing or
 * empty file: a new database has its first page before anybody can find it.
 */
export function fileAt(path: string): string {
  const { size, dev, ino } = statOf(path);
  if (size === 0) throw new FileDamage("the file is empty");
  return `${dev}:${ino}`;
}

function statOf(path: string): Deno.FileInfo {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new FileDamage("the file is missing");
    throw error;
  }
}
