// The command `deno task copy`: moves a database from one service to another, or under another name, and proves that both
// hold the same.
import { createHash } from "node:crypto";
import { parseArgs } from "node:util";
import type { Api } from "./api_call.ts";
import { ask, bodyOf, CopyError } from "./ask_side.ts";
import { asksForHelp } from "./asks_for_help.ts";
import { commandEnvironment } from "./environment.ts";
import { fetchStreaming } from "./fetch_streaming.ts";
import { type Freeze, freeze, leftFreeze, requireFrozen, thaw } from "./freeze_source.ts";
import { pause } from "../core/pause.ts";
import { sayLine } from "./say_line.ts";

const USAGE = `deno task copy --from ADDRESS --to ADDRESS [--no-freeze]

  --from ADDRESS  http://host/v1/db/<namespace>/<database>
  --to ADDRESS    a database without tables, here or at another service
  --no-freeze     writes go on meanwhile: what comes later than the copy is not in it

The tokens (role admin; to freeze, without scopes) are taken from the variables CUBBY_FROM_TOKEN and CUBBY_TO_TOKEN.`;

/** What the command gets from outside. */
export interface CopyParts {
  readonly fromToken: string | undefined;
  readonly toToken: string | undefined;
  readonly fetch: typeof fetch;
  /** Called with each line for standard output. */
  readonly say: (line: string) => void;
  /** Milliseconds until every process of the source knows of a new rule. */
  readonly ruleMs: number;
}

interface Move {
  readonly from: Api;
  readonly to: Api;
  readonly freezes: boolean;
}

/** Records of migrations that go to the target in one call. */
const RECORDS_AT_ONCE = 200;

/** Runs the command. Answers the exit code: 0 moved, 1 not moved, 2 called in a wrong way. */
export async function copy(args: readonly string[], parts: CopyParts): Promise<number> {
  const { say } = parts;
  if (asksForHelp(args)) {
    say(USAGE);
    return 0;
  }
  const move = readMove(args, parts);
  if (typeof move === "string") {
    say(`${move}\n\n${USAGE}`);
    return 2;
  }
  let rule: Freeze | null = null;
  try {
    const left = await leftFreeze(move.from);
    // Where the earlier run has filled the target, it is compared.
    if (left === null) await requireEmpty(move.to);
    rule = move.freezes ? left ?? await freeze(move.from) : null;
    if (rule !== null) {
      say(`The source takes no writes: rule ${rule.id}${rule.isLeft ? ", of an earlier run" : ""}`);
      await pause(parts.ruleMs);
    }
    for (const line of await moveAll(move, left !== null)) say(line);
    if (rule !== null) {
      await requireFrozen(move.from, rule);
      say(`The source stays as it is until you delete rule ${rule.id}.`);
    }
    return 0;
  } catch (error) {
    say(`Not moved: ${error instanceof Error ? error.message : "for an unknown reason"}`);
    if (rule !== null) say(await thaw(move.from, rule));
    return 1;
  }
}

/** What is to be moved, or what is wrong with the arguments. */
function readMove(args: readonly string[], { fromToken, toToken, fetch }: CopyParts): Move | string {
  const own = args[0] === "--" ? args.slice(1) : args;
  const text = { type: "string" } as const;
  const options = { from: text, to: text, "no-freeze": { type: "boolean", default: false } } as const;
  let values;
  try {
    ({ values } = parseArgs({ args: [...own], options }));
  } catch (error) {
    return error instanceof Error ? error.message : "Unknown arguments";
  }
  const [from, to] = [values.from, values.to].map((address) => address?.replace(/\/+$/, "") ?? "");
  if (!isAddress(from) || !isAddress(to)) {
    return "Give both addresses, as http://host/v1/db/<namespace>/<database>";
  }
  if (from === to) return "Give two addresses; these are the same";
  if (!fromToken || !toToken) return "Put the tokens into the variables CUBBY_FROM_TOKEN and CUBBY_TO_TOKEN";
  return {
    from: { db: from, token: fromToken, fetch: fetchFrom("source", fetch) },
    to: { db: to, token: toToken, fetch: fetchFrom("target", fetch) },
    freezes: !values["no-freeze"],
  };
}

/** `fetch` whose failures tell which of the two does not answer. */
function fetchFrom(which: string, fetch: CopyParts["fetch"]): CopyParts["fetch"] {
  return (input, init) =>
    fetch(input, init).catch((error) => {
      throw new CopyError(
        `the ${which} does not answer: ${error instanceof Error ? error.message : "unknown"}`,
      );
    });
}

function isAddress(text: string | undefined): text is string {
  return text !== undefined && /^https?:\/\/.+\/v1\/db\/[^/]+\/[^/]+$/.test(text);
}

async function requireEmpty(to: Api): Promise<void> {
  if (!await isEmpty(to)) throw new CopyError("the target has tables; give a database without any");
}

async function isEmpty(to: Api): Promise<boolean> {
  const tables = await ask(to, "target", "GET", "tables");
  return Array.isArray(tables) && tables.length === 0;
}

/** Copies, compares, and takes the records of migrations along. `goesOn`: an earlier run may have filled the target. */
async function moveAll({ from, to }: Move, goesOn: boolean): Promise<string[]> {
  const before = await digestOf(from, "source");
  const isThere = goesOn && !await isEmpty(to);
  if (isThere && await digestOf(to, "target") !== before) {
    throw new CopyError("the target has tables, and not those of the source; give a database without any");
  }
  const said = isThere
    ? [`Both hold the same; SHA-256 of both as SQL: ${before}`]
    : await moveContent(from, to, before);
  const migrations = await moveRecords(from, to);
  return [
    ...said,
    ...(migrations === 0 ? [] : [`Recorded ${migrations} migrations.`]),
    "Endpoints, rules, tokens, descriptions and branches are not moved.",
  ];
}

async function moveContent(from: Api, to: Api, before: string): Promise<string[]> {
  const source = await exported(from, "source", "sqlite");
  // Rows that refer to rows that are not there are a part of the source, too.
  const sent = to.fetch(`${to.db}/import?format=sqlite&mode=create&foreign_keys=off`, {
    method: "POST",
    headers: { "Authorization": `Bearer ${to.token}`, "Content-Type": "application/octet-stream" },
    body: source.body,
  });
  const imported = await bodyOf(
    await sent.catch(async (error) => {
      await source.body?.cancel().catch(() => {});
      throw error;
    }),
    "target",
  );
  const after = await digestOf(to, "target");
  if (after !== before) {
    throw new CopyError(
      "the target does not hold what the source held; drop it, and see that nobody writes the source",
    );
  }
  const { tables, rows, notKept } = Object(imported);
  return [
    `Moved ${count(tables)} tables with ${count(rows)} rows; SHA-256 of both as SQL: ${after}`,
    ...(Array.isArray(notKept) ? notKept.map((name) => `not kept: ${JSON.stringify(name)}`) : []),
  ];
}

function count(value: unknown): number {
  return typeof value === "number" ? value : Object.keys(Object(value)).length;
}

/** Of all that the database holds, as SQL. */
async function digestOf(api: Api, which: string): Promise<string> {
  const { body } = await exported(api, which, "sql");
  const hash = createHash("sha256");
  let end = "";
  for await (const piece of body ?? []) {
    hash.update(piece);
    end = (end + new TextDecoder().decode(piece.slice(-200))).slice(-200);
  }
  if (!/\n--[^\n]*\n?$/.test(end)) throw new CopyError(`the export of the ${which} is cut`);
  return hash.digest("hex");
}

async function exported(api: Api, which: string, format: "sql" | "sqlite"): Promise<Response> {
  const response = await api.fetch(`${api.db}/export?format=${format}`, {
    headers: { "Authorization": `Bearer ${api.token}` },
  });
  if (!response.ok) await bodyOf(response, which);
  return response;
}

/** In parts, in their order: what an earlier run has recorded is left out. */
async function moveRecords(from: Api, to: Api): Promise<number> {
  const files = (await recordsOf(from, "source")).map(({ name, sha256 }) => ({ name, sha256 }));
  const there = new Set((await recordsOf(to, "target")).map(({ name }) => name));
  const left = files.filter(({ name }) => !there.has(name));
  for (let at = 0; at < left.length; at += RECORDS_AT_ONCE) {
    const part = left.slice(at, at + RECORDS_AT_ONCE);
    await ask(to, "target", "POST", "migrations", { baseline: true, files: part });
  }
  return files.length;
}

async function recordsOf(api: Api, which: string): Promise<{ name: string; sha256: string }[]> {
  const rows = await ask(api, which, "GET", "migrations");
  return Array.isArray(rows) ? rows : [];
}

/** Rules are known everywhere within five seconds. */
const RULE_MS = 5000;

if (import.meta.main) {
  const { hasProxy, ...tokens } = commandEnvironment();
  const parts = { ...tokens, fetch: hasProxy ? fetch : fetchStreaming, say: sayLine, ruleMs: RULE_MS };
  Deno.exit(await copy(Deno.args, parts));
}
