// An app whose KV is a file, as main.ts opens it, and the commands of the backup on its data folder.
import { assert, assertEquals } from "@std/assert";
import { backup } from "../../lib/cli/backup.ts";
import { type Config, configFromEnvironment, readConfig } from "../../lib/config.ts";
import {
  ScheduledBackups,
  type ScheduledBackupsOptions,
} from "../../lib/services/backup/scheduled_backups.ts";
import { startApp, type StartAppOptions, type StartedApp } from "../testing/start_app.ts";

export interface BackupWorld extends AsyncDisposable {
  /** Where backups are put. */
  readonly folder: string;
  /** `DATA_DIR`. */
  readonly dataDir: string;
  /** Starts the app on it. */
  start(options?: StartAppOptions): Promise<StartedApp>;
  /** Runs a command on it: the exit code, and what it said. */
  command(args: readonly string[], settings?: Readonly<Record<string, string>>): Promise<Said>;
}

export interface Said {
  readonly code: number;
  readonly text: string;
}

export async function backupWorld(
  settings: Readonly<Record<string, string>> = {},
): Promise<BackupWorld> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_backup_" });
  const dataDir = `${folder}/data`;
  const own = { DATA_DIR: dataDir, TENANTS_URL: "file:", ...settings };
  return {
    folder,
    dataDir,
    start: async (options = {}) => {
      await Deno.mkdir(dataDir, { recursive: true });
      return await startApp({ kvOnDisk: true, ...options, settings: { ...own, ...options.settings } });
    },
    command: async (args, more = {}) => {
      const lines: string[] = [];
      const { engineEnvironment } = configFromEnvironment();
      // Not spread: secrets cannot be.
      const settings = readConfig({ ...own, ...more });
      const config: Config = Object.create(settings, { engineEnvironment: { value: engineEnvironment } });
      const openKv = (path: string) => Deno.openKv(path);
      const say = (line: string) => void lines.push(line);
      const code = await backup(args, { config, calledIn: folder, openKv, fetch, say });
      return { code, text: lines.join("\n") };
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

/** `data` of an answer that has to be a success. */
export function dataOf(answer: { readonly status: number; readonly text: string }): Record<string, string> {
  assertEquals(Math.floor(answer.status / 100), 2, answer.text);
  return JSON.parse(answer.text).data;
}

/** The backups that go into the archive, as main.ts makes them. */
export function scheduledBackups(
  { deps }: StartedApp,
  { clock = deps.clock, archive = deps.tenants.archive ?? undefined }: Partial<ScheduledBackupsOptions> = {},
): ScheduledBackups {
  const { kvFile } = deps;
  assert(kvFile !== undefined && archive !== undefined);
  const { engineEnvironment: environment } = configFromEnvironment();
  const folder = `${deps.config.dataDir}/backups`;
  return new ScheduledBackups({ kvFile, folder, environment, archive, keepDays: 30, clock });
}
