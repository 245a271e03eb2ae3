// The objects that an archive has, as a listing names them.
import type { ObjectStore } from "../object_store.ts";
import { type ArchiveName, databasePrefix, readObjectName } from "./archive_names.ts";

/** An object of a database. */
export interface Named {
  readonly key: string;
  readonly name: ArchiveName;
}

/** The same, with the database. */
interface Listed extends Named {
  readonly databaseId: string;
}

/** Objects by epoch. */
export type Epochs = Map<string, Named[]>;

/**
 * Those of one database, or of all (null), in the order of their keys; `after`: those behind that one. Rejects where the store
 * does not answer.
 */
export async function* objectsOf(
  store: Pick<ObjectStore, "keys">,
  databaseId: string | null,
  after?: string,
): AsyncGenerator<Listed> {
  for await (const key of store.keys(databaseId === null ? "db/" : databasePrefix(databaseId), after)) {
    const [, of = "", rest = ""] = /^db\/([^/]+)\/(.+)$/.exec(key) ?? [];
    const name = readObjectName(rest);
    if (name !== null) yield { key, databaseId: of, name };
  }
}

/** Puts an object beside the others of its epoch. */
export function addToEpoch(epochs: Epochs, object: Named): void {
  const objects = epochs.get(object.name.epoch);
  if (objects) objects.push(object);
  else epochs.set(object.name.epoch, [object]);
}
