// Removes from the archive what no moment needs that can still be restored.
import { DAY_MS } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { readBegin } from "./find_epoch.ts";
import { addToEpoch, type Epochs, type Named, objectsOf } from "./listed_objects.ts";
import type { ObjectStore } from "../object_store.ts";

/** Milliseconds that the clock of this machine may be ahead of the store's, where both go well enough. */
const AHEAD_MS = DAY_MS;

/**
 * The time by which something may be removed: a clock that is further ahead than the store's would remove what is good. A
 * store that has told no time lets nothing be removed.
 */
export function believedMs({ toldMs }: Pick<ObjectStore, "toldMs">, nowMs: number): number {
  return toldMs === null ? -Infinity : Math.min(nowMs, toldMs + AHEAD_MS);
}

/**
 * Removes epochs that ended before `beforeMs`, and halves of which the beginning never came. The last one of a database stays,
 * as long as `isKnown`; that of a database which was dropped goes with its last segment's age. Rejects in the end with
 * `archive_damaged` where what an epoch begins with is lost or altered: nothing of that database is removed.
 */
export async function pruneArchive(
  store: ObjectStore,
  beforeMs: number,
  isKnown: (databaseId: string) => Promise<boolean>,
): Promise<void> {
  let damage: AppError | null = null;
  for await (const [databaseId, epochs] of databases(store)) {
    const known = await isKnown(databaseId);
    const gone = await past(store, epochs, { beforeMs, known }).catch((error) => {
      if (!(error instanceof AppError)) throw error;
      damage = error;
      return [];
    });
    for (const epoch of gone) {
      const rank = ({ name }: Named) => name.kind === "begin" ? 0 : 1;
      // What it begins with goes first, so that a half-removed epoch is none.
      const objects = (epochs.get(epoch) ?? []).sort((a, b) => rank(a) - rank(b));
      for (const { key } of objects) await store.remove(key);
    }
  }
  if (damage !== null) throw damage;
}

/** One database after the other: an archive may have more objects than fit into memory. */
async function* databases(store: ObjectStore): AsyncGenerator<readonly [string, Epochs]> {
  let found: [string, Epochs] | null = null;
  for await (const object of objectsOf(store, null)) {
    if (found?.[0] !== object.databaseId) {
      if (found) yield found;
      found = [object.databaseId, new Map()];
    }
    addToEpoch(found[1], object);
  }
  if (found) yield found;
}

/** The epochs that can go. */
async function past(
  store: ObjectStore,
  epochs: Epochs,
  { beforeMs, known }: { readonly beforeMs: number; readonly known: boolean },
): Promise<string[]> {
  const gone: string[] = [];
  // Begins of the next one, which is not there for the last.
  let nextMs: number | null = null;
  for (const [epoch, objects] of [...epochs].sort(([a], [b]) => a < b ? 1 : -1)) {
    const named = objects.find(({ name }) => name.kind === "begin");
    const begin = named ? await readBegin(store, named) : null;
    const lastMs = objects.reduce((last, { name }) => Math.max(last, name.readMs), begin?.atMs ?? 0);
    // Objects are sent in their order: the beginning of a half one never comes once there is a later one.
    // Neither does the beginning of one that was made while a clock was behind make the one before old.
    const isPast = nextMs !== null
      ? !begin || Math.max(nextMs, lastMs) < beforeMs
      : !known && lastMs < beforeMs;
    if (isPast) gone.push(epoch);
    if (begin) nextMs = begin.atMs;
  }
  return gone;
}
