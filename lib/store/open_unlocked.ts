// Opens the file of the control plane where nobody else holds it. The claim of the folder keeps out no SQLite shell.
import { ConfigError } from "../core/errors.ts";
import { keys } from "./keys.ts";
import { isLocked } from "./kv_call.ts";

/** Milliseconds that somebody else may hold the file. */
const HELD_MS = 5000;
const HELD =
  "Stop what holds kv.sqlite3 in DATA_DIR, such as a SQLite shell; a start waits for the file for 5 seconds";

/** Throws `ConfigError` where the file is held; on a full disk it is opened all the same. Other errors: those of `open`. */
export async function openUnlocked(open: () => Promise<Deno.Kv>): Promise<Deno.Kv> {
  const opening = openAndWrite(open);
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), HELD_MS);
  try {
    const kv = await Promise.race([opening, late]);
    if (kv !== null) return kv;
  } catch (error) {
    throw isLocked(error) ? new ConfigError(HELD) : error;
  } finally {
    clearTimeout(timer);
  }
  // It is closed once its write has ended: to close it before would stop this process until the file is free.
  opening.then((kv) => kv.close(), () => {});
  throw new ConfigError(HELD);
}

async function openAndWrite(open: () => Promise<Deno.Kv>): Promise<Deno.Kv> {
  const kv = await open();
  try {
    // Of a record that nobody has made: only the lock matters, and a full disk can be read.
    await kv.atomic().delete(keys.commitReceipt("none")).commit();
  } catch (error) {
    if (!isLocked(error)) return kv;
    kv.close();
    throw error;
  }
  return kv;
}
