// Before anything of a request runs: every statement in it has to be one that somebody may run, and the caller.
import { andThen } from "../../core/and_then.ts";
import { AppError } from "../../core/errors.ts";
import { roleAtLeast } from "../../core/role.ts";
import { refused } from "../../query/failure_error.ts";
import { roleOfClass } from "../../sql/words/statement_kinds.ts";
import { type FindText, readText } from "./door_statement.ts";
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
  const { facts } = ctx;
  const asked = textsIn(requests, find);
  const sequences = asked.filter(({ isSequence }) => isSequence).map(({ sql }) => sql);
  return andThen(facts.readAhead(sequences, "parts"), () => {
    // What many requests ask for, by its number or its text, is read once.
    const texts = new Set<string>();
    for (const { sql, isSequence } of asked) {
      for (const one of isSequence ? sequenceTexts(facts, sql) : [sql]) texts.add(one);
    }
    return andThen(readLong(facts, [...texts]), () => firstRefusal(ctx, texts));
  });
}

/** Reads the texts where they are long, and those that the pipeline gets in their place. Null: they are not. */
function readLong(facts: DoorContext["facts"], texts: readonly string[]): Promise<void> | null {
  const reading = facts.readAhead(texts);
  if (reading === null) return null;
  return reading.then(async () => {
    await facts.readAhead(texts, "own");
    await facts.readAhead(texts.map((sql) => (facts.ahead("own", sql) ?? { sql }).sql));
  });
}

function firstRefusal(ctx: DoorContext, texts: Iterable<string>): AppError | null {
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

/** A text of requests. */
interface AskedText {
  readonly sql: string;
  /** It may hold several statements. */
  readonly isSequence: boolean;
}

/** The texts in order, each once. One that is not there is the failure of its request, not a refusal. */
function textsIn(requests: readonly StreamRequest[], find: FindText): AskedText[] {
  const stored = new Map<number, string>();
  const seen = { one: new Set<string>(), several: new Set<string>() };
  const texts: AskedText[] = [];
  const add = ({ sql, sql_id: id }: WireText, isSequence = false) => {
    const text = sql ?? (typeof id === "number" ? stored.get(id) ?? find(id) : undefined);
    const known = isSequence ? seen.several : seen.one;
    if (text === undefined || known.has(text)) return;
    known.add(text);
    texts.push({ sql: text, isSequence });
  };
  for (const request of requests) {
    if (request.type === "store_sql") stored.set(request.sql_id, request.sql);
    else if (request.type === "execute") add(request.stmt);
    else if (request.type === "batch") request.batch.steps.forEach(({ stmt }) => add(stmt));
    else if (request.type === "sequence" || request.type === "describe") {
      add(request, request.type === "sequence");
    }
  }
  return texts;
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
