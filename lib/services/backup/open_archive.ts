// Opens the archive to read it, as a command does: beside a service that may be writing it.
import type { Config } from "../../config.ts";
import { AppError, ConfigError } from "../../core/errors.ts";
import { archiveSettings } from "../../tenant/archive/archive_settings.ts";
import type { ReadObjects } from "../../tenant/object_store.ts";
import { openObjectStore } from "../../tenant/archive/open_object_store.ts";

/**
 * Throws `ConfigError` where there is none. What it answers throws `archive_unavailable` where the store refuses or does not
 * answer: whoever runs a command has that one line.
 */
export async function openArchive(config: Config): Promise<ReadObjects> {
  const settings = archiveSettings(config);
  if (settings === null) throw new ConfigError("Set ARCHIVE_URL to the archive, and its keys; it is unset");
  const store = await openObjectStore(settings.url, settings.keys);
  return {
    get: async (key) => await store.get(key).catch(notAnswered),
    keys: (prefix) => keysOf(store, prefix),
  };
}

async function* keysOf(store: ReadObjects, prefix: string): AsyncGenerator<string> {
  try {
    yield* store.keys(prefix);
  } catch {
    notAnswered();
  }
}

/** Without the text of the error, which may hold an address. */
function notAnswered(): never {
  throw new AppError("archive_unavailable", {
    message: "Look at ARCHIVE_URL and its keys; the archive refuses them or does not answer",
  });
}
