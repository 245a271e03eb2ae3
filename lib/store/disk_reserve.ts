// Room that is set aside while there is some: to open a database, SQLite needs a little on the disk even to read, which a
// full one does not give.
import { ConfigError } from "../core/config_error.ts";

/** Bytes: the 32 KB that SQLite needs for each database that is opened, for a few of them. */
const RESERVE_BYTES = 512 * 1024;

/**
 * Opens what lies in `folder`, in the room of the reserve where there is no other; the next start with room makes it
 * anew. Throws `ConfigError` where it cannot be opened so either.
 */
export async function openWithReserve<T>(folder: string, open: () => Promise<T>): Promise<T> {
  const reserve = `${folder}/reserve`;
  try {
    const opened = await open();
    await makeReserve(reserve);
    return opened;
  } catch {
    await Deno.remove(reserve).catch(() => {});
  }
  try {
    return await open();
  } catch {
    throw new ConfigError(
      "Make room on the disk of DATA_DIR, let this process write there, or bring kv.sqlite3 back from a backup; it could not be opened",
    );
  }
}

/** Best effort: without one, a start on a full disk may have to wait for room. */
async function makeReserve(path: string): Promise<void> {
  try {
    if ((await Deno.stat(path)).size === RESERVE_BYTES) return;
  } catch {
    // It is made now.
  }
  await Deno.writeFile(path, new Uint8Array(RESERVE_BYTES), { mode: 0o600 }).catch(() =>
    Deno.remove(path).catch(() => {})
  );
}
