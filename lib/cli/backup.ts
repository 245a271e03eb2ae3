// The commands of the backup: `deno task backup`, `backup:verify` and `backup:restore`. They work on the files of a service, or
// ask a running one.
import { resolve } from "node:path";
import { type Config, configFromEnvironment } from "../config.ts";
import { HOUR_MS, systemClock } from "../core/clock.ts";
import { reasonOf } from "../core/attempt.ts";
import { AppError, ConfigError } from "../core/errors.ts";
import { bringBackup } from "../services/backup/archived_backups.ts";
import { withoutFile } from "../services/backup/check_databases.ts";
import type { KnownDatabase } from "../services/backup/known_databases.ts";
import { openArchive } from "../services/backup/open_archive.ts";
import { rebuildDatabases } from "../services/backup/rebuild_databases.ts";
import { restoreBackup, type Restored } from "../services/backup/restore_backup.ts";
import { makeBackup } from "../services/backup/run_backup_child.ts";
import { verifyBackup } from "../services/backup/verify_backup.ts";
import { asksForHelp } from "./asks_for_help.ts";
import {
  BACKUP_USAGE,
  type BackupArguments,
  type BackupCommand,
  readBackupArguments,
  UsageError,
} from "./backup_arguments.ts";
import { commandEnvironment } from "./environment.ts";
import { sayLine } from "./say_line.ts";

/** What the commands get from outside. */
export interface BackupParts {
  readonly config: Config;
  readonly calledIn: string | undefined;
  readonly openKv: (path: string) => Promise<Deno.Kv>;
  readonly fetch: typeof fetch;
  /** Called with each line for standard output. */
  readonly say: (line: string) => void;
}

/** Milliseconds that the clocks of two machines may differ. */
const CLOCKS_APART_MS = HOUR_MS;

type Command = (asked: BackupArguments, parts: BackupParts) => Promise<number>;

/** Runs a command. Answers the exit code: 0 done, 1 not done or something is wrong, 2 called in a wrong way. */
export async function backup(args: readonly string[], parts: BackupParts): Promise<number> {
  const [name = "", ...rest] = args;
  if (asksForHelp(rest)) {
    parts.say(BACKUP_USAGE);
    return 0;
  }
  try {
    if (!isCommand(name)) throw new UsageError("Choose a command");
    return await commands[name](readBackupArguments(name, rest, parts.calledIn), parts);
  } catch (error) {
    if (error instanceof UsageError) {
      parts.say(`${error.message}\n\n${BACKUP_USAGE}`);
      return 2;
    }
    // Of any other error only the name: its text may hold an address with a key.
    const known = error instanceof ConfigError || error instanceof AppError;
    const name = Reflect.get(Object(error), "code") === "ENOSPC"
      ? "there is no room on the disk"
      : error instanceof Error
      ? error.name
      : "for an unknown reason";
    parts.say(`Not done: ${known ? error.message : name}`);
    return 1;
  }
}

const commands: Readonly<Record<BackupCommand, Command>> = { take, verify, restore };

function isCommand(name: string): name is BackupCommand {
  return Object.hasOwn(commands, name);
}

/** Written aside first: a file of that name is whole, and never takes another one's place. */
async function take({ file, from }: BackupArguments, parts: BackupParts): Promise<number> {
  const folder = await folderBeside(file);
  try {
    const made = from === null ? await fromFolder(folder, parts) : await fromService(folder, from, parts);
    {
      using synced = await Deno.open(made);
      await synced.sync();
    }
    await Deno.link(made, file);
    parts.say(`Backed up to ${file} (${(await Deno.stat(file)).size} bytes)`);
    return 0;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      throw new ConfigError("Name a new file; that one is there and was not touched");
    }
    throw error;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A folder on the disk that the file is to be on. */
async function folderBeside(file: string): Promise<string> {
  try {
    return await Deno.makeTempDir({ dir: resolve(file, ".."), prefix: ".backup-" });
  } catch (error) {
    throw new ConfigError(
      `Name a file in a folder that is there and can be written; ${file} cannot be made (${reasonOf(error)})`,
    );
  }
}

async function fromFolder(folder: string, { config }: BackupParts): Promise<string> {
  const kv = `${config.dataDir}/kv.sqlite3`;
  if (config.kvUrl !== null) throw new AppError("backup_elsewhere");
  if (!await Deno.stat(kv).then(() => true, () => false)) {
    throw new ConfigError(`Set DATA_DIR to the folder of a service; there is no ${kv}`);
  }
  return await makeBackup(resolve(kv), systemClock.now(), { folder, environment: config.engineEnvironment });
}

async function fromService(folder: string, from: string, { config, fetch }: BackupParts): Promise<string> {
  if (config.operatorKey === null) {
    throw new UsageError("Put the operator key into the variable OPERATOR_KEY");
  }
  const headers = { Authorization: `Bearer ${config.operatorKey}` };
  const response = await fetch(`${from}/api/backup`, { headers, redirect: "error" }).catch(() => {
    throw new ConfigError(`Give --from as the address of a service that runs; ${from} does not answer`);
  });
  if (!response.ok || response.body === null) {
    const text = await response.text();
    const [, error = `HTTP ${response.status}`] = /"error":"([^"]{1,300})"/.exec(text) ?? [];
    throw new ConfigError(`the service says ${error}`);
  }
  const path = `${folder}/backup.tar`;
  const to = await Deno.open(path, { createNew: true, write: true, mode: 0o600 });
  await response.body.pipeTo(to.writable);
  const { size } = await Deno.stat(path);
  if (String(size) !== response.headers.get("content-length")) throw new ConfigError("the answer was cut");
  return path;
}

async function verify({ file, untilMs }: BackupArguments, parts: BackupParts): Promise<number> {
  const { config, openKv, say } = parts;
  const folder = await Deno.makeTempDir({ prefix: "cubby_verify_" });
  try {
    const isHere = config.tenantsUrl.kind === "file" && await isFolder(`${config.dataDir}/tenants`);
    const archive = config.archiveUrl === null ? null : await openArchive(config);
    const dataDir = isHere ? config.dataDir : null;
    const path = file === "archive" ? await bring(folder, untilMs, config) : file;
    const { lines, wrong } = await verifyBackup(path, { folder, openKv, dataDir, archive });
    for (const line of lines) say(line);
    for (const line of wrong) say(`wrong: ${line}`);
    const count = wrong.length === 1 ? "One thing is" : `${wrong.length} things are`;
    say(wrong.length === 0 ? "All is well" : `${count} wrong`);
    return wrong.length === 0 ? 0 : 1;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function restore(asked: BackupArguments, parts: BackupParts): Promise<number> {
  const { config, openKv, say } = parts;
  const { dataDir, engineEnvironment: environment } = config;
  if (config.kvUrl !== null) throw new AppError("backup_elsewhere");
  const folder = await Deno.makeTempDir({ prefix: "cubby_restore_" });
  const isArchive = asked.file === "archive";
  let missing = 0;
  const told = ({ name, databaseId }: KnownDatabase, wrong: string | null) => {
    if (wrong !== null) missing++;
    say(wrong === null ? `Database ${name} is there` : `wrong: database ${name} (${databaseId}): ${wrong}`);
  };
  const bringDatabases = async (known: readonly KnownDatabase[]) => {
    const nowMs = systemClock.now();
    await rebuildDatabases(known, { store: await openArchive(config), dataDir, environment, nowMs, told });
  };
  try {
    const file = isArchive ? await bring(folder, asked.untilMs, config) : asked.file;
    const { replace, revokeTokens, rehearsal } = asked;
    const given = { dataDir, environment, openKv, clock: systemClock, replace, revokeTokens, rehearsal };
    const restored = await restoreBackup(file, { ...given, ...(isArchive ? { bringDatabases } : {}) });
    for (const line of wordsOf(restored, asked, dataDir)) say(line);
    if (!isArchive && config.tenantsUrl.kind === "file") {
      const lost = await withoutFile(restored.known, dataDir);
      if (lost.length > 0) say(missingFiles(lost.map(({ name }) => name)));
    }
    return missing + restored.wrong.length === 0 ? 0 : 1;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function wordsOf(
  { takenAt, voided, kept, wrong }: Restored,
  { revokeTokens }: BackupArguments,
  dataDir: string,
): string[] {
  const ended = Object.entries(voided).filter(([, count]) => count > 0).map(([name, count]) =>
    `${name} (${count})`
  );
  return [
    ...wrong.map((line) => `wrong: ${line}`),
    `The control plane of ${takenAt} is in ${dataDir}`,
    ...(kept === null ? [] : [`What was there is kept as ${kept}`]),
    `Ended: ${ended.length === 0 ? "nothing" : ended.join(", ")}, and all sessions of apps' users`,
    revokeTokens
      ? "All API tokens have ended: make new ones"
      : "API tokens, members and passkeys count as they did then, also those that were taken away since: look at them",
    "Credits since then are to be added again, by their references",
  ];
}

/** A backup that is no archive has none of the databases themselves. */
function missingFiles(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(", ") + (names.length > 5 ? ", …" : "");
  return `Databases without a file here: ${names.length} (${shown}); bring the folder tenants back before the start, ` +
    "or restore archive into an empty DATA_DIR";
}

/** One that is of a time to come was taken while a clock was wrong: it is not the newest. */
async function bring(folder: string, untilMs: number | null, config: Config): Promise<string> {
  const path = `${folder}/backup.tar`;
  await bringBackup(await openArchive(config), path, untilMs ?? systemClock.now() + CLOCKS_APART_MS);
  return path;
}

async function isFolder(path: string): Promise<boolean> {
  return await Deno.stat(path).then(({ isDirectory }) => isDirectory, () => false);
}

if (import.meta.main) {
  const openKv = (path: string) => Deno.openKv(path);
  const { calledIn } = commandEnvironment();
  try {
    Deno.exit(
      await backup(Deno.args, { config: configFromEnvironment(), calledIn, openKv, fetch, say: sayLine }),
    );
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    sayLine(error.message);
    Deno.exit(1);
  }
}
