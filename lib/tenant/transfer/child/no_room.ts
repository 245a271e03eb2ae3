// Failures that say nothing of what is read or built: the disk or the memory is full.

/** SQLITE_NOMEM and SQLITE_FULL; of SQLITE_IOERR those of writing: WRITE, FSYNC and TRUNCATE (sqlite.org/rescode.html). */
const CODES: readonly unknown[] = [7, 13, 778, 1034, 1546];

/** Whether there was no room. */
export function isNoRoom(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code: unknown = Reflect.get(error, "errcode");
  // A file that is not the engine's.
  if (code === undefined) return /no space|too large|quota/i.test(error.message);
  return CODES.includes(code);
}
