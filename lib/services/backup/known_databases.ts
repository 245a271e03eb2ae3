// The databases that a control plane knows, whatever they are to it.
import { keys, kindOf } from "../../store/keys.ts";
import { kvEntries } from "../../store/kv_call.ts";

/** One database. */
export interface KnownDatabase {
  readonly databaseId: string;
  /** For people: `acme/shop`, `acme/shop@branch`, or that it was deleted. */
  readonly name: string;
  /** Whether it was deleted and can be brought back. */
  readonly isDeleted: boolean;
}

/** All of them, with branches and those that were deleted and can be brought back. Errors: `meter_unreachable`. */
export async function knownDatabases(kv: Deno.Kv): Promise<KnownDatabase[]> {
  const slugs = new Map<string, string>();
  for await (const { value } of kvEntries(kv, keys.namespaces())) slugs.set(value.id, value.slug);
  const slugOf = (namespaceId: string) => slugs.get(namespaceId) ?? namespaceId;
  const found: KnownDatabase[] = [];
  const trunks = new Map<string, string>();
  for await (const { value } of kvEntries(kv, kindOf(keys.database("", "")))) {
    const name = `${slugOf(value.namespaceId)}/${value.slug}`;
    trunks.set(value.id, name);
    found.push({ databaseId: value.id, name, isDeleted: false });
  }
  for await (const { value } of kvEntries(kv, keys.branches())) {
    const trunk = trunks.get(value.trunkId) ?? value.trunkId;
    found.push({ databaseId: value.id, name: `${trunk}@${value.ref}`, isDeleted: false });
  }
  for await (const { value: { database } } of kvEntries(kv, keys.deletedDatabases())) {
    const name = `${slugOf(database.namespaceId)}/${database.slug} (deleted)`;
    found.push({ databaseId: database.id, name, isDeleted: true });
  }
  return found;
}
