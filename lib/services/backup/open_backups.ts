// Opens the backups that the archive gets by itself.
import type { Config } from "../../config.ts";
import type { Clock } from "../../core/clock.ts";
import type { TenantStore } from "../../tenant/tenant_store.ts";
import type { ScheduledBackups } from "./scheduled_backups.ts";
import { BACKUPS_FOLDER } from "./take_backup.ts";

/** `kvFile`: the control plane's. Null where there is no archive, or no file to back up. */
export async function openBackups(
  config: Config,
  { archive, kvFile, clock }: Pick<TenantStore, "archive"> & {
    readonly kvFile: string;
    readonly clock: Clock;
  },
): Promise<ScheduledBackups | null> {
  if (archive === null || config.hosted || config.kvUrl !== null) return null;
  const { ScheduledBackups } = await import("./scheduled_backups.ts");
  const { dataDir, engineEnvironment: environment, archiveDays: keepDays } = config;
  const folder = `${dataDir}/${BACKUPS_FOLDER}`;
  return new ScheduledBackups({ kvFile, folder, environment, archive, keepDays, clock });
}
