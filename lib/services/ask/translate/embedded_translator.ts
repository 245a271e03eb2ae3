// The embedded translator: turns common questions about a described schema into SQL without a model. It refuses what
// it does not understand completely: a question understood by half would get a wrong answer.
import type { AskModel, AskProposal, AskRequest } from "../model/ask_model.ts";
import { describePlan } from "./describe_plan.ts";
import { findDates } from "./find_dates.ts";
import { linkNames } from "./link_names.ts";
import { linkValues } from "./link_values.ts";
import { Reading } from "./reading.ts";
import { readTokens, type Token } from "./tokens.ts";
import { understand } from "./understand.ts";
import { writeSql } from "./write_sql.ts";
import type { AskSchema } from "../model/ask_schema.ts";
import { isFlag } from "./column_kinds.ts";
import { splitWords, wordForms } from "../../schema/search_words.ts";

/** The most words of a question: longer ones are not of the kind that this understands. */
const MAX_TOKENS = 60;

/** The model that needs no server. */
export class EmbeddedTranslator implements AskModel {
  readonly repairs = false;

  async propose({ question, schema, nowMs, findValues }: AskRequest): Promise<AskProposal> {
    const tokens = readTokens(question).map((token) => withoutPrefix(token, schema));
    if (tokens.length === 0 || tokens.length > MAX_TOKENS) return notUnderstood;
    const reading = new Reading(tokens, schema, nowMs);
    const dates = findDates(tokens, nowMs);
    for (const { at, end } of dates) reading.take(at, end);
    for (let at = 0; at < tokens.length; at++) {
      for (const phrase of ["in total", "in all", "all in all"]) {
        reading.take(at, at + reading.phrase(at, phrase));
      }
      if (/^(sorted|ordered|ranked|order|sort)$/.test(reading.word(at)) && reading.word(at + 1) === "by") {
        reading.take(at, at + 2);
      }
    }
    reading.mentions = linkNames(tokens, schema, reading.used);
    await linkValues(reading, question, findValues);
    const plan = understand(reading, dates);
    if (plan === null) return notUnderstood;
    const sql = writeSql(schema, plan);
    if (sql === null) {
      return { ok: false, reason: "the tables that it speaks of do not hang together that way" };
    }
    return { ok: true, sql, explanation: describePlan(plan) };
  }
}

const notUnderstood: AskProposal = {
  ok: false,
  reason: "the question was not understood; name the tables and columns that it is about",
};

/** Finds "unpaid" by the column "paid": the text keeps the prefix, its word forms do not. */
function withoutPrefix(token: Token, schema: AskSchema): Token {
  const bare = /^(?:un|in|non-?)(\p{L}{3,})$/u.exec(token.lower)?.[1];
  if (bare === undefined) return token;
  const forms = wordForms(bare);
  const known = schema.tables.some(({ columns }) =>
    columns.some((column) =>
      isFlag(column) &&
      splitWords(column.name).some((word) => wordForms(word).some((form) => forms.includes(form)))
    )
  );
  return known ? { ...token, lower: bare, forms } : token;
}
