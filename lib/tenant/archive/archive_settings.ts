// The settings of the archive. They stand apart from it, which is loaded only where something is archived.
import type { Config } from "../../config.ts";
import type { ArchiveUrl } from "../../config_archive.ts";
import type { ArchiveKeys } from "./open_object_store.ts";

/** The settings of the archive. */
export interface ArchiveSettings {
  readonly url: ArchiveUrl;
  readonly keys: ArchiveKeys | null;
  /** Days that a moment can be restored. */
  readonly days: number;
  /** Megabytes that may wait for a store that is away. */
  readonly spoolMb: number;
  /** Another installation's archive becomes this one's. */
  readonly takeOver: boolean;
}

type ArchiveConfig = Pick<
  Config,
  | ("archiveUrl" | "archiveAccessKeyId" | "archiveSecretAccessKey")
  | ("archiveDays" | "archiveSpoolMb" | "archiveTakeOver")
>;

/** The settings as configuration has them; null: nothing is archived. */
export function archiveSettings(config: ArchiveConfig): ArchiveSettings | null {
  const { archiveUrl: url, archiveAccessKeyId, archiveSecretAccessKey, archiveDays, archiveSpoolMb } = config;
  if (url === null) return null;
  const keys = archiveAccessKeyId === null || archiveSecretAccessKey === null
    ? null
    : { accessKeyId: archiveAccessKeyId, secretAccessKey: archiveSecretAccessKey };
  return { url, keys, days: archiveDays, spoolMb: archiveSpoolMb, takeOver: config.archiveTakeOver };
}
