// Asks questions of a real database and compares the answers with those of reference statements.
import { assertEquals } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { answerQuestion } from "../../lib/services/ask/answer_question.ts";
import type { AskModel } from "../../lib/services/ask/model/ask_model.ts";
import { EmbeddedTranslator } from "../../lib/services/ask/translate/embedded_translator.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { rowsOf, type TestDatabase, type TestNamespace } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { askContext, makeDatabase, specOf, targetOf } from "./ask_world.ts";
import type { EverydayQuestion, EverydaySchema } from "./everyday/everyday_schema.ts";
import { ASKED_ON } from "./schemas.ts";

/** What became of some questions. */
export interface Score {
  readonly asked: number;
  /** Answered as the reference, or refused where there is no answer. */
  readonly right: number;
  /** One line a question. */
  readonly wrong: readonly string[];
  /** Refused, though there is an answer. */
  readonly refused: readonly string[];
}

type Rows = readonly (readonly unknown[])[];

interface HowToAsk {
  /** Whether the schemas have their descriptions. */
  readonly described?: boolean;
  readonly model?: AskModel;
  /** Called with each statement that ran, as the log of the database has it. */
  readonly ran?: (sql: string) => void;
}

/** Asks all questions of all schemas, of the embedded translator unless `model` says otherwise. */
export async function scoreQuestions(
  schemas: readonly EverydaySchema[],
  { described = true, model = new EmbeddedTranslator(), ran }: HowToAsk = {},
): Promise<Score> {
  const clock = new TurnableClock();
  clock.turn(Date.parse(ASKED_ON) - clock.now());
  await using app = await startApp({ clock });
  const tenant = await app.namespace();
  const context = askContext(app, model);
  const lines = { wrong: [] as string[], refused: [] as string[] };
  let asked = 0;
  for (const schema of schemas) {
    const database = await makeDatabase(app, tenant, described ? schema : { ...schema, descriptions: [] });
    const target = await targetOf(app, database);
    const run = async (sql: string): Promise<Rows> => {
      const answer = await app.request("POST", `${database.path}/query`, {
        token: tenant.token,
        body: { sql },
      });
      assertEquals(answer.status, 200, `${sql}: ${answer.text}`);
      return rowsOf(answer);
    };
    const ask = async (question: string): Promise<Answered> => {
      const input = { target, spec: specOf(schema.tables), question, signal: () => null };
      try {
        const { sql, rows } = await answerQuestion(context, input);
        return { ok: true, sql, rows };
      } catch (error) {
        if (error instanceof AppError && error.code === "ask_refused") {
          return { ok: false, reason: error.message };
        }
        throw error;
      }
    };
    for (const question of schema.questions) {
      asked++;
      const outcome = await judge(question, ask, run);
      if (outcome) lines[outcome.kind].push(`${schema.name}: ${question.q} → ${outcome.said}`);
    }
    if (ran) { for (const sql of await loggedOf(app, tenant, database)) ran(sql); }
  }
  return { ...lines, asked, right: asked - lines.wrong.length - lines.refused.length };
}

/** The statements in a database's log. */
async function loggedOf(app: StartedApp, tenant: TestNamespace, database: TestDatabase): Promise<string[]> {
  const { text } = await app.request("GET", `${database.path}/query_log?pageSize=500`, {
    token: tenant.token,
  });
  return [...text.matchAll(/"sql":"((?:[^"\\]|\\.)*)"/g)].map(([, sql = ""]) => sql);
}

type Answered =
  | { readonly ok: true; readonly sql: string; readonly rows: Rows }
  | { readonly ok: false; readonly reason: string };

/** Null when the question was answered rightly. */
async function judge(
  question: EverydayQuestion,
  ask: (question: string) => Promise<Answered>,
  run: (sql: string) => Promise<Rows>,
): Promise<{ readonly kind: "wrong" | "refused"; readonly said: string } | null> {
  const answer = await ask(question.q);
  if ("mustRefuse" in question) return answer.ok ? { kind: "wrong", said: answer.sql } : null;
  if (!answer.ok) return { kind: "refused", said: answer.reason };
  for (const sql of [question.sql].flat()) {
    if (isSameAnswer(answer.rows, await run(sql), question.inOrderOf ?? null)) return null;
  }
  return { kind: "wrong", said: `${answer.sql} → ${JSON.stringify(answer.rows).slice(0, 200)}` };
}

/** The expected columns stand among the answer's, and its rows are the expected ones. More columns do no harm. */
function isSameAnswer(rows: Rows, expected: Rows, inOrderOf: number | null): boolean {
  if (rows.length !== expected.length) return false;
  const width = expected[0]?.length ?? 0;
  return placements(width, rows[0]?.length ?? 0).some((places) => {
    const seen = rows.map((row) => places.map((place) => text(row[place])));
    const wanted = expected.map((row) => row.map(text));
    const inOrder = inOrderOf === null || seen.every((row, at) => row[inOrderOf] === wanted[at]?.[inOrderOf]);
    return inOrder && sorted(seen) === sorted(wanted);
  });
}

/** All ways to choose `width` different columns of `of`. */
function placements(width: number, of: number): number[][] {
  if (width === 0) return [[]];
  return placements(width - 1, of).flatMap((places) =>
    Array.from({ length: of }, (_, at) => at).filter((at) => !places.includes(at)).map((
      at,
    ) => [...places, at])
  );
}

function text(value: unknown): string {
  return typeof value === "number" ? value.toFixed(6) : JSON.stringify(value);
}

function sorted(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.join("|")).sort().join("\n");
}
