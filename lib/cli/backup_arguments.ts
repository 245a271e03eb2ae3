// The arguments of the backup's commands.
import { resolve } from "node:path";
import { parseArgs } from "node:util";

/** How they are called. */
export const BACKUP_USAGE = `deno task backup FILE [--from ADDRESS]
deno task backup:verify FILE
deno task backup:restore FILE|archive [--replace] [--revoke-tokens] [--at TIME]

  FILE             a backup of the control plane; \`archive\`: the newest one in the archive, with the databases
  --from ADDRESS   http://host of a running service, asked with OPERATOR_KEY; without it the file in DATA_DIR is read
  --replace        puts it in the place of a control plane that is there, which is kept beside
  --revoke-tokens  ends all API tokens: those revoked since the backup would count again
  --at TIME        ISO 8601: the newest one in the archive until then

Settings are those of the service: DATA_DIR, ARCHIVE_URL and its keys.`;

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
  /** Infinity: whatever there is. */
  readonly untilMs: number;
}

/** Paths are those of the folder in which the command was called. Throws `UsageError`. */
export function readBackupArguments(args: readonly string[], calledIn = "."): BackupArguments {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const options = { from: text, at: text, replace: flag, "revoke-tokens": flag } as const;
  const own = args.filter((one) => one !== "--");
  let read;
  try {
    read = parseArgs({ args: own, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "Unknown arguments");
  }
  const { positionals: [file, ...more], values } = read;
  if (file === undefined || more.length > 0) throw new UsageError("Name one file");
  const untilMs = values.at === undefined ? Infinity : Date.parse(values.at);
  if (Number.isNaN(untilMs)) throw new UsageError("Give --at as 2026-11-22T14:30:00Z");
  const from = values.from?.replace(/\/+$/, "") ?? null;
  if (from !== null && !URL.canParse(from)) throw new UsageError("Give --from as http://host");
  return {
    file: file === "archive" ? file : resolve(calledIn, file),
    from,
    replace: values.replace,
    revokeTokens: values["revoke-tokens"],
    untilMs,
  };
}
