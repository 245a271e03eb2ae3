// Opens the archive to read it, as a command does: beside a service that may be writing it.
import type { Config } from "../../config.ts";
import { ConfigError } from "../../core/errors.ts";
import { archiveSettings } from "../../tenant/archive/archive_settings.ts";
import type { ObjectStore } from "../../tenant/object_store.ts";
import { openObjectStore } from "../../tenant/archive/open_object_store.ts";

/** Throws `ConfigError` where there is none. */
export async function openArchive(config: Config): Promise<ObjectStore> {
  const settings = archiveSettings(config);
  if (settings === null) throw new ConfigError("Set ARCHIVE_URL to the archive, and its keys; it is unset");
  return await openObjectStore(settings.url, settings.keys);
}
