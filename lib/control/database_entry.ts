// The record of a database as the commits of what belongs to it check it: what is added beside the deletion would stay for ever.
import type { DatabaseIds } from "../core/database_ids.ts";
import { AppError } from "../core/errors.ts";
import { keys } from "../store/keys.ts";
import { kvGet } from "../store/kv_call.ts";
import type { DatabaseRecord } from "../store/records.ts";

/** Errors: `database_not_found`, `meter_unreachable`. */
export async function databaseEntry(
  kv: Deno.Kv,
  { namespaceId, databaseId }: DatabaseIds,
): Promise<Deno.KvEntry<DatabaseRecord>> {
  const entry = await kvGet(kv, keys.database(namespaceId, databaseId));
  if (entry.versionstamp === null) throw new AppError("database_not_found");
  return entry;
}
