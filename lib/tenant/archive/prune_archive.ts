// Removes from the archive what no moment needs that can still be restored.
import { type ArchiveName, readObjectName } from "./archive_names.ts";
import { readBegin } from "./find_epoch.ts";
import type { ObjectStore } from "./object_store.ts";

/**
 * Removes epochs that ended before `beforeMs`. The last one of a database stays, as long as `isKnown`; that of a database
 * which was dropped goes with its last segment's age.
 */
export async function pruneArchive(
  store: ObjectStore,
  beforeMs: number,
  isKnown: (databaseId: string) => Promise<boolean>,
): Promise<void> {
  const databases = new Map<string, Map<string, { key: string; name: ArchiveName }[]>>();
  for (const key of await store.list("db/")) {
    const [, databaseId = "", rest = ""] = /^db\/([^/]+)\/(.+)$/.exec(key) ?? [];
    const name = readObjectName(rest);
    if (name === null) continue;
    const epochs = databases.get(databaseId) ?? new Map();
    databases.set(databaseId, epochs);
    epochs.set(name.epoch, [...(epochs.get(name.epoch) ?? []), { key, name }]);
  }
  for (const [databaseId, epochs] of databases) {
    const names = [...epochs.keys()].sort();
    for (const [at, epoch] of names.entries()) {
      const next = epochs.get(names[at + 1] ?? "");
      const objects = epochs.get(epoch) ?? [];
      if (next ? !await beganBefore(store, next, beforeMs) : await isKnown(databaseId)) continue;
      if (!next && Math.max(...objects.map(({ name }) => name.readMs)) >= beforeMs) continue;
      // What it begins with goes first, so that a half-removed epoch is none.
      for (const { key } of objects.sort((a) => a.name.kind === "begin" ? -1 : 1)) await store.remove(key);
    }
  }
}

async function beganBefore(
  store: ObjectStore,
  objects: readonly { readonly key: string; readonly name: ArchiveName }[],
  beforeMs: number,
): Promise<boolean> {
  const begin = objects.find(({ name }) => name.kind === "begin");
  return begin !== undefined && (await readBegin(store, begin)).atMs < beforeMs;
}
