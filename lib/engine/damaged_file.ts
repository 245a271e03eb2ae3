// Whether a database's file is there at all, found out before the engine is asked: it would take a missing or an empty
// file for a new database.

/** The file is missing or empty. */
export class FileDamage extends Error {
  override readonly name = "FileDamage";
}

/**
 * Which file stands at `path`: another text for another file. One without a byte is never a database: what is made has
 * its first page before anybody can find it. Throws `FileDamage`.
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
