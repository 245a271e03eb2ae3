// The arguments of the backup's commands.
import { resolve } from "node:path";
import { parseArgs } from "node:util";

/** How they are called. */
export const BACKUP_USAGE = `deno task backup FILE [--from ADDRESS]
deno task backup:verify FILE|archive [--at TIME]
deno task backup:restore FILE|archive [--replace] [--revoke-tokens] [--rehearsal] [--at TIME]

  FILE             a backup of the control plane; \`archive\`: the newest one in the archive, with the databases
  --from ADDRESS   http://host of a running service, asked with OPERATOR_KEY; without it the file in DATA_DIR is read
  --replace        puts it in the place of a control plane that is there, which is kept beside
  --revoke-tokens  ends all API tokens: those revoked since the backup would count again
  --rehearsal      switches webhooks off: for a try beside the service that goes on, in a DATA_DIR of its own
  --at TIME        ISO 8601: the newest one in the archive until then

Settings are those of the service: DATA_DIR, ARCHIVE_URL and its keys.`;

/** Stands for the newest backup in the archive. */
const ARCHIVE = "archive";

/** The arguments are not those of the command. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What is asked for. */
export interface BackupArguments {
  /** A path, or `archive`. */
  readonly file: string;
  /** `http://host`; null: the data folder is read. */
  readonly from: string | null;
  readonly replace: boolean;
  readonly revokeTokens: boolean;
  readonly rehearsal: boolean;
  /** Null: the newest one that there is. */
  readonly untilMs: number | null;
}

/** What may be said to each command: an option that does nothing would be taken for one that does. */
const known = {
  take: ["from"],
  verify: ["at"],
  restore: ["at", "replace", "revoke-tokens", "rehearsal"],
} as const;

/** The commands. */
export type BackupCommand = keyof typeof known;

/** Paths are those of the folder in which the command was called. Throws `UsageError`. */
export function readBackupArguments(
  command: BackupCommand,
  args: readonly string[],
  calledIn = ".",
): BackupArguments {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const options = { from: text, at: text, replace: flag, "revoke-tokens": flag, rehearsal: flag } as const;
  const own = args.filter((one) => one !== "--");
  let read;
  try {
    read = parseArgs({ args: own, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "Unknown arguments");
  }
  const { positionals: [file, ...more], values } = read;
  if (file === undefined || more.length > 0) throw new UsageError("Name one file");
  requireKnown(command, file, own);
  const untilMs = values.at === undefined ? null : Date.parse(values.at);
  if (Number.isNaN(untilMs)) throw new UsageError("Give --at as 2026-11-22T14:30:00Z");
  const from = values.from?.replace(/\/+$/, "") ?? null;
  if (from !== null && !URL.canParse(from)) throw new UsageError("Give --from as http://host");
  return {
    file: file === ARCHIVE ? file : resolve(calledIn, file),
    from,
    replace: values.replace,
    revokeTokens: values["revoke-tokens"],
    rehearsal: values.rehearsal,
    untilMs,
  };
}

function requireKnown(command: BackupCommand, file: string, args: readonly string[]): void {
  const names: readonly string[] = known[command];
  for (const arg of args) {
    const [, name] = /^--([^=]+)/.exec(arg) ?? [];
    if (name !== undefined && !names.includes(name)) throw new UsageError(`Leave out --${name} here`);
    if (name === "at" && file !== ARCHIVE) {
      throw new UsageError("Leave out --at, or choose archive: a file is one moment");
    }
  }
  if (command === "take" && file === ARCHIVE) {
    throw new UsageError("Name a file: with ARCHIVE_URL set the service sends backups to the archive itself");
  }
}
