// Before anything of a request runs: every statement in it has to be one that somebody may run, and the caller.
import { AppError } from "../../core/errors.ts";
import { roleAtLeast } from "../../core/role.ts";
import { refused } from "../../query/failure_error.ts";
import { roleOfClass } from "../../sql/statement_kinds.ts";
import { type FindText, ownText, readText } from "./door_statement.ts";
import type { DoorContext, StreamRequest, WireText } from "./hrana_types.ts";
import { sequenceTexts } from "./sequence_steps.ts";

/**
 * The first statement that may not run, also where a condition would skip it or it is only described; null: all may.
 * What the texts alone do not say the pipeline decides, before it runs any statement of a call.
 */
export function refusalIn(
  ctx: DoorContext,
  requests: readonly StreamRequest[],
  find: FindText,
): AppError | null | Promise<AppError | null> {
  const stored = new Map<number, string>();
  const findAny = (id: number) => stored.get(id) ?? find(id);
  const texts = requests.flatMap((request) => {
    if (request.type === "store_sql") stored.set(request.sql_id, request.sql);
    return textsOf(request, findAny);
  });
  const reading = ctx.facts.readAhead(texts);
  return reading === null ? firstRefusal(ctx, texts) : refusalOfLong(ctx, texts, reading);
}

/** The texts that the pipeline gets in their place are read before too. */
async function refusalOfLong(
  ctx: DoorContext,
  texts: readonly string[],
  reading: Promise<void>,
): Promise<AppError | null> {
  await reading;
  await ctx.facts.readAhead(texts.map((sql) => ownText(sql, ctx.facts.syntax(sql)).sql));
  return firstRefusal(ctx, texts);
}

function firstRefusal(ctx: DoorContext, texts: readonly string[]): AppError | null {
  for (const sql of texts) {
    const refusal = refusalOf(ctx, sql);
    if (refusal !== null) return refusal;
  }
  return null;
}

/** Whether a request runs SQL. */
export function runsSql({ type }: StreamRequest): boolean {
  return type === "execute" || type === "batch" || type === "sequence";
}

/** A text that is not there is the failure of its request, not a refusal. */
function textsOf(request: StreamRequest, find: FindText): string[] {
  const one = (text: WireText): string[] => {
    const sql = text.sql ?? (typeof text.sql_id === "number" ? find(text.sql_id) : undefined);
    return sql === undefined || sql === null ? [] : [sql];
  };
  switch (request.type) {
    case "execute":
      return one(request.stmt);
    case "batch":
      return request.batch.steps.flatMap(({ stmt }) => one(stmt));
    case "sequence":
      return sequenceTexts(one(request)[0] ?? "");
    case "describe":
      return one(request);
    default:
      return [];
  }
}

function refusalOf({ facts, target: { role } }: DoorContext, sql: string): AppError | null {
  const { read, control } = readText(facts, sql);
  if (control !== null || !read.ok) return null;
  const { class: kind, refusal } = read.syntax;
  if (kind === "refused") return refused(refusal ?? "This statement", {}, sql);
  const needed = roleOfClass[kind];
  if (roleAtLeast(role, needed)) return null;
  return new AppError("role_too_low", {
    message:
      `Use a token with role ${needed} for this request, of which nothing has run; this one has ${role}`,
  });
}
