// The embedded translator: turns common questions about a described schema into SQL without a model. It never guesses: a
// word that carries meaning and was mapped to nothing makes the question refused.
import type { AskModel, AskProposal, AskRequest, Refusal } from "../model/ask_model.ts";
import type { AskSchema } from "../model/ask_schema.ts";
import type { FoundValue } from "../model/find_values.ts";
import { describePlan } from "./describe_plan.ts";
import { type DateSpan, findDates } from "./find_dates.ts";
import { isTooLarge, keptSchema } from "./kept_schemas.ts";
import { linkNames } from "./link_names.ts";
import { phrasesOf, valueSpans, withValues } from "./link_values.ts";
import { leftOver } from "./left_over.ts";
import { nearWord } from "./near_word.ts";
import { Reading } from "./reading.ts";
import { suggestions } from "./suggestions.ts";
import { readTokens, type Token } from "./tokens.ts";
import { understand } from "./understand.ts";
import { writeSql } from "./write_sql.ts";

/** The most words of a question: longer ones are not of the kind that this understands. */
const MAX_TOKENS = 60;

/** The model that needs no server. */
export class EmbeddedTranslator implements AskModel {
  readonly repairs = false;

  async propose({ question, nowMs, findValues, ...request }: AskRequest): Promise<AskProposal> {
    if (isTooLarge(request.schema)) {
      return { ok: false, reason: "the tables that may be asked about have too many columns" };
    }
    const schema = keptSchema(request.schema);
    const tokens = readTokens(question);
    const refuse = ({ reason, schemaWords = "" }: Refusal): AskProposal => ({
      ok: false,
      reason,
      schemaWords: `${schemaWords}${worksHere(question, schema, nowMs)}`,
    });
    if (tokens.length === 0 || tokens.length > MAX_TOKENS) {
      return refuse({ reason: "the question has no words, or too many" });
    }
    const spans = valueSpans(tokens, [], question);
    const found = await findValues(phrasesOf(spans, schema));
    const outcome = translate({ question, schema, nowMs, found });
    return outcome.ok ? outcome : refuse(outcome);
  }
}

/** A question with what the data has of its words. */
interface Asked {
  readonly question: string;
  readonly schema: AskSchema;
  readonly nowMs: number;
  readonly found: readonly FoundValue[];
}

function translate({ question, schema, nowMs, found }: Asked): AskProposal {
  const tokens = readTokens(question);
  const reading = new Reading(tokens, schema, nowMs);
  const dates = withoutParticles(findDates(tokens, nowMs), tokens, schema);
  for (const { at, end } of dates) reading.take(at, end);
  const spans = valueSpans(tokens, reading.used, question);
  reading.mentions = withValues(linkNames(tokens, schema, reading.used), { spans, tokens, found, schema });
  const plan = understand(reading, dates);
  const open = leftOver(reading);
  if (reading.problem !== null) return { ok: false, ...reading.problem };
  if (open !== null) {
    const reason = reading.doubtful
      ? `"${open}" may mean one thing as well as another; say of what it is`
      : `"${open}" was not understood`;
    return { ok: false, reason, schemaWords: nearWord(open, schema) };
  }
  if (plan === null) {
    return {
      ok: false,
      reason: "it is not clear what is asked for; name the tables and columns that it is about",
    };
  }
  const sql = writeSql(schema, plan);
  if (sql === null) {
    return { ok: false, reason: "the tables that it speaks of do not hang together that way" };
  }
  return { ok: true, sql, explanation: describePlan(plan) };
}

/** In "checking in next week" the "in" is a part of `check_in`, not of the date. */
function withoutParticles(
  dates: readonly DateSpan[],
  tokens: readonly Token[],
  schema: AskSchema,
): readonly DateSpan[] {
  return dates.map((span) => {
    if (span.at === 0 || !/^(in|on)$/.test(tokens[span.at]?.lower ?? "")) return span;
    const [verb, ...more] = linkNames(tokens.slice(span.at - 1, span.at + 1), schema, [false, false]);
    return verb?.end === 2 && verb.score >= 0.95 && more.length === 0 ? { ...span, at: span.at + 1 } : span;
  });
}

/** Two questions that would work, which this translates itself. */
function worksHere(question: string, schema: AskSchema, nowMs: number): string {
  const works: string[] = [];
  for (const one of suggestions(question, schema)) {
    if (works.length < 2 && translate({ question: one, schema, nowMs, found: [] }).ok) works.push(`"${one}"`);
  }
  return works.length === 0 ? "" : `. These would work: ${works.join(", ")}`;
}
