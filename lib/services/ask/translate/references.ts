// Which of several references between tables a question means: "from", "assigned to", "reports to", "commented on".
import { splitWords } from "../../schema/search_words.ts";
import type { AskTable } from "../model/ask_schema.ts";
import { joinPath, stepsFrom } from "./join_path.ts";
import { roles } from "./lexicon.ts";
import { formsOf, isAlike } from "./likeness.ts";
import type { Reading } from "./reading.ts";

/**
 * A table that the question names between the subject and the value, where the shortest way does not pass it: who commented on
 * a post is not who wrote it.
 */
export function throughOf(reading: Reading, subject: AskTable, target: AskTable): AskTable | null {
  const { schema } = reading;
  if (target === subject) return null;
  const way = joinPath(schema, subject, new Set([target]));
  const isNear = (a: AskTable, b: AskTable) => stepsFrom(schema, a).filter(({ to }) => to === b).length === 1;
  const named = reading.mentions.flatMap(({ table }) =>
    table && table !== subject && table !== target ? [table] : []
  );
  return named.find((one) =>
    isNear(subject, one) && isNear(one, target) && !way?.some(({ to }) => to === one) &&
    reading.absence?.table !== one
  ) ?? null;
}

/** Where the way from the subject, or from a table that is named, leads along one of several references. */
export function forkTo(
  reading: Reading,
  target: AskTable,
): { readonly host: AskTable; readonly target: AskTable } | null {
  const named = reading.mentions.flatMap(({ table }) => table ? [table] : []);
  const hosts = reading.subject === target || reading.subject === null ? [] : [reading.subject, ...named];
  const several = (host: AskTable) =>
    host.foreignKeys.filter(({ toTable }) => toTable === target.name).length > 1;
  const host = hosts.find((one) => one !== target && several(one));
  if (host) return { host, target };
  const way = hosts[0] && joinPath(reading.schema, hosts[0], new Set([target]));
  const fork = way?.find(({ ambiguous, many }) => ambiguous && !many);
  return fork ? { host: fork.from, target: fork.to } : null;
}

/** Tells the references by the words that choose one: those of their columns that the others do not have. */
export function severalWays(host: AskTable, target: AskTable): [reason: string, schemaWords: string] {
  const names = host.foreignKeys.filter(({ toTable }) => toTable === target.name)
    .map(({ columns: [column = ""] }) => splitWords(column));
  const own = names.map((words) => words.filter((word) => !names.every((one) => one.includes(word))));
  const ways = own.filter((words) => words.length > 0).map((words) => `"${words.join(" ")}"`);
  const which = ways.length > 0 ? `: ${ways.join(" or ")}` : "";
  return ["what it names belongs together in several ways; say which one", which];
}

/** The columns of the reference that the words in front of a place mean: "from", "received"; null where none do. */
export function roleOf(
  reading: Reading,
  { host, target, before }: { readonly host: AskTable; readonly target: AskTable; readonly before: number },
): readonly string[] | null {
  const keys = host.foreignKeys.filter(({ toTable }) => toTable === target.name);
  for (let at = before - 1; at >= Math.max(0, before - 3); at--) {
    const said = reading.tokens[at]?.forms ?? [];
    const named = keys.filter(({ columns }) =>
      splitWords(columns[0] ?? "").some((word) => isAlike(said, formsOf(word)))
    );
    const role = roles.find(([said]) => said.test(reading.word(at)))?.[1];
    const fits = named.length === 1
      ? named
      : keys.filter(({ columns }) =>
        role !== undefined && splitWords(columns[0] ?? "").some((word) => role.test(word))
      );
    const [only, ...more] = fits;
    if (only === undefined || more.length > 0) continue;
    reading.take(at, at + 1);
    return only.columns;
  }
  return null;
}
