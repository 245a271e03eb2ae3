// Asks every held-out question of a real database and compares the answers with those of the reference SQL.
import { assertEquals } from "@std/assert";
import type { EndpointSpec } from "../../lib/core/endpoint_spec.ts";
import { AppError } from "../../lib/core/errors.ts";
import { answerQuestion } from "../../lib/services/ask/answer_question.ts";
import { EmbeddedTranslator } from "../../lib/services/ask/translate/embedded_translator.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { rowsOf, type TestDatabase, type TestNamespace } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { askContext, makeDatabase, specOf, targetOf } from "./ask_world.ts";
import { type HeldOut, heldOut } from "./questions.ts";
import { ASKED_ON, askedSchemas } from "./schemas.ts";

export interface Score {
  readonly asked: number;
  readonly right: number;
  /** One line a question. */
  readonly wrong: readonly string[];
  readonly refused: readonly string[];
}

export async function runHeldOut(): Promise<Score> {
  const clock = new TurnableClock();
  clock.turn(Date.parse(ASKED_ON) - clock.now());
  await using app = await startApp({ clock });
  const tenant = await app.namespace();
  const wrong: string[] = [];
  const refused: string[] = [];
  let asked = 0;
  for (const schema of askedSchemas) {
    const database = await makeDatabase(app, tenant, schema);
    for (const one of heldOut[schema.name] ?? []) {
      asked++;
      const outcome = await ask(app, tenant, database, one, specOf(schema.tables));
      if (outcome?.startsWith("refused")) refused.push(`${schema.name}: ${one.q} → ${outcome}`);
      else if (outcome) wrong.push(`${schema.name}: ${one.q} → ${outcome}`);
    }
  }
  return { asked, wrong, refused, right: asked - wrong.length - refused.length };
}

/** Null when the answer is the reference's, else what was wrong. */
async function ask(
  app: StartedApp,
  tenant: TestNamespace,
  database: TestDatabase,
  { q, sql, inOrderOf }: HeldOut,
  spec: EndpointSpec,
): Promise<string | null> {
  const reference = await app.request("POST", `${database.path}/query`, {
    token: tenant.token,
    body: { sql },
  });
  assertEquals(reference.status, 200, `${sql}: ${reference.text}`);
  const expected = rowsOf(reference);
  try {
    const answer = await answerQuestion(askContext(app, new EmbeddedTranslator()), {
      ...{ target: await targetOf(app, database), spec, question: q, signal: () => null },
    });
    return isSameAnswer(answer.rows, expected, inOrderOf ?? null)
      ? null
      : `${answer.sql} → ${JSON.stringify(answer.rows).slice(0, 200)}`;
  } catch (error) {
    if (error instanceof AppError && error.code === "ask_refused") return `refused: ${error.message}`;
    throw error;
  }
}

/** The expected columns stand among the answer's, and its rows are the expected ones. More columns do no harm. */
function isSameAnswer(
  rows: readonly (readonly unknown[])[],
  expected: readonly (readonly unknown[])[],
  inOrderOf: number | null,
): boolean {
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
