// The command `deno task migrate`: applies the migration files of a folder to a database, or to many, by the API.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Api, type ApiBody, callApi } from "./api_call.ts";
import { asksForHelp } from "./asks_for_help.ts";
import { type CommandEnvironment, commandEnvironment } from "./environment.ts";
import { type ManyDatabases, migrateMany } from "./migrate_many.ts";
import { doneWords, failureWords, statusWords } from "./migration_words.ts";
import { FolderError, type FolderFile, readFolder } from "./read_folder.ts";
import { sayLine } from "./say_line.ts";

const USAGE = `deno task migrate --dir FOLDER [--db ADDRESS] [--dry-run | --status | --baseline NAME] [--wait]

  --dir FOLDER     of drizzle-kit, prisma, dbmate, wrangler, supabase, or plain .sql files
  --db ADDRESS     http://host/v1/db/<namespace>/<database>; or the variable CUBBY_DB. With "*" at its end: every database whose
                   name begins so
  --dry-run        tries the files on a copy and tells what they would do
  --status         tells which files are applied
  --baseline NAME  records the files up to this one as applied without running them; all: every file
  --wait           waits for a person where a rule holds the files

The token (role admin) is taken from the variable CUBBY_TOKEN.`;

/** What the command gets from outside. */
export interface CommandParts extends Pick<CommandEnvironment, "db" | "token" | "calledIn"> {
  readonly fetch: typeof fetch;
  /** Called with each line for standard output. */
  readonly say: (line: string) => void;
}

/** The arguments are not those of the command. */
class UsageError extends Error {
  override readonly name = "UsageError";
}

const ADDRESS = /^(https?:\/\/.+)\/v1\/db\/([^/]+)\/([^/]+)$/;

interface Options {
  readonly dir: string;
  readonly api: Api;
  /** Not null: every database whose name begins so, instead of that of `api`. */
  readonly many: Pick<ManyDatabases, "service" | "namespace" | "prefix"> | null;
  readonly status: boolean;
  readonly dryRun: boolean;
  readonly baseline: string | null;
  readonly wait: boolean;
}

/** Runs the command. Answers the exit code: 0 done, 1 refused, 2 called in a wrong way, 3 held for a person. */
export async function migrate(args: readonly string[], parts: CommandParts): Promise<number> {
  if (asksForHelp(args)) {
    parts.say(USAGE);
    return 0;
  }
  try {
    return await runCommand(readOptions(args, parts), parts);
  } catch (error) {
    if (error instanceof UsageError) parts.say(`${error.message}\n\n${USAGE}`);
    else if (error instanceof FolderError) parts.say(error.message);
    else if (error instanceof Error) {
      parts.say(`No answer: ${error.message}. Run it again; files that were applied are left alone.`);
      return 1;
    } else throw error;
    return 2;
  }
}

function readOptions(args: readonly string[], { db, token, calledIn, fetch }: CommandParts): Options {
  const own = args[0] === "--" ? args.slice(1) : args;
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const options = { dir: text, db: text, baseline: text, "dry-run": flag, status: flag, wait: flag };
  let values;
  try {
    ({ values } = parseArgs({ args: [...own], options }));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "Unknown arguments");
  }
  const address = (values.db ?? db)?.replace(/\/+$/, "");
  const { dir } = values;
  if (dir === undefined) throw new UsageError("Name the folder by --dir");
  const [, service = "", namespace = "", database = ""] = ADDRESS.exec(address ?? "") ?? [];
  if (!address || database === "") {
    throw new UsageError("Give the address of the database, as http://host/v1/db/<namespace>/<database>");
  }
  if (!token) throw new UsageError("Put the token into the variable CUBBY_TOKEN");
  const { status, wait, baseline = null, "dry-run": dryRun } = values;
  if (Number(status) + Number(dryRun) + Number(baseline !== null) > 1) {
    throw new UsageError("Choose one of --dry-run, --status and --baseline");
  }
  const many = database.endsWith("*") ? { service, namespace, prefix: database.slice(0, -1) } : null;
  if (many && wait) {
    throw new UsageError("Leave out --wait where there are many databases, and run it again later");
  }
  return {
    dir: resolve(calledIn ?? ".", dir),
    api: { db: address, token, fetch },
    many,
    status,
    dryRun,
    baseline,
    wait,
  };
}

async function runCommand(options: Options, { say }: CommandParts): Promise<number> {
  const { api, many, dryRun, baseline, status } = options;
  const files = await readFolder(options.dir);
  const sent = baseline === null ? files : upTo(files, baseline);
  const more = baseline === null ? { dryRun } : { baseline: true };
  const ask = (one: Api) =>
    status ? callApi(one, "GET", "migrations") : callApi(one, "POST", "migrations", { files: sent, ...more });
  const words = (body: ApiBody) =>
    status ? statusWords(body, files.map(({ name }) => name)) : doneWords(body);
  if (many) {
    // Of thousands only what is not as it should be, or has just become so.
    const known = status ? /^(?:applied|recorded) / : /^Nothing is pending/;
    const news = (body: ApiBody) => words(body).filter((line) => !known.test(line));
    return await migrateMany({ ...many, api, ask, words: news, say });
  }
  const done = await ask(api);
  if (done.code !== "approval_required") return told(say, done, words);
  say(`A rule holds them for a person: ${done["approvalUrl"]}`);
  return options.wait ? await redeem(api, done["approvalToken"], say) : 3;
}

function upTo(files: readonly FolderFile[], last: string): readonly FolderFile[] {
  if (last === "all") return files;
  const at = files.findIndex(({ name }) => name === last || name === `${last}.sql`);
  if (at < 0) throw new UsageError(`No file is named ${last}`);
  return files.slice(0, at + 1);
}

/** Seconds that one question waits for a decision. */
const WAIT_SEC = 25;

async function redeem(api: Api, approvalToken: unknown, say: CommandParts["say"]): Promise<number> {
  for (;;) {
    const asked = await callApi(api, "GET", `approvals/${approvalToken}?waitSec=${WAIT_SEC}`);
    const state = Reflect.get(Object(asked.data), "state");
    if (!asked.success) return told(say, asked, doneWords);
    if (state !== "pending") break;
  }
  return told(say, await callApi(api, "POST", "redeem_approval", { approvalToken }), doneWords);
}

function told(say: CommandParts["say"], body: ApiBody, words: (body: ApiBody) => string[]): number {
  for (const line of body.success ? words(body) : failureWords(body)) say(line);
  return body.success ? 0 : 1;
}

if (import.meta.main) {
  Deno.exit(await migrate(Deno.args, { ...commandEnvironment(), fetch, say: sayLine }));
}
