// Random schemas and statements through the service, beside a plain SQLite: rows, counts, kinds of errors, what is kept.
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { ApiAnswer } from "../testing/call_api.ts";
import { startApp } from "../testing/start_app.ts";
import { modelDatabase } from "./model_database.ts";
import { holds } from "./model_run.ts";
import { KINDS, type PlainAnswer, PlainDatabase } from "./plain_database.ts";
import { dumps, schemas } from "./random_schema.ts";
import { type Call, calls } from "./random_statements.ts";

Deno.test("random statements do what they do in a plain SQLite", async () => {
  await using app = await startApp();
  const namespace = await app.namespace();
  const cases = fc.tuple(schemas, fc.array(calls, { minLength: 1, maxLength: 8 }));
  await holds(cases, 25, async ([schema, some]) => {
    await using database = await modelDatabase(app, namespace);
    using plain = new PlainDatabase();
    const setUp = { statements: schema.map((sql) => ({ sql, params: [] })), transaction: true };
    plain.run(setUp);
    const made = await database.send(setUp);
    assertEquals(made.status, 200, made.text);
    for (const call of some) {
      const answer = await database.send(call);
      assertEquals(toldBy(answer, call), wanted(plain.run(call), call), JSON.stringify(call));
    }
    for (const sql of dumps) assertEquals(await database.rows(sql), plain.rows(sql), sql);
  });
});

interface Result {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly rowsWritten: number;
}

interface Told {
  readonly status: number;
  readonly kind: string | null;
  readonly failedIndex: number | null;
  readonly results: readonly Result[];
}

/** When a full-text index writes what it holds in memory depends on savepoints: such a statement's count is its own. */
const FULL_TEXT = /\bdocs\b|\bINTO k\b/;

const resultsOf = (results: readonly Result[], { statements }: Call): Result[] =>
  results.map(({ columns, rows, rowsWritten }, at) => ({
    columns,
    rows,
    rowsWritten: FULL_TEXT.test(statements[at]?.sql ?? "") ? 0 : rowsWritten,
  }));

function toldBy({ status, text, body: { errorDetail, failedIndex } }: ApiAnswer, call: Call): Told {
  const { data = [] }: { data?: Result | Result[] } = JSON.parse(text);
  const results = resultsOf(Array.isArray(data) ? data : [data], call);
  if (status === 200) return { status, kind: null, failedIndex: null, results };
  const kind = errorDetail !== undefined && KINDS.includes(errorDetail.kind) ? errorDetail.kind : "other";
  return {
    status,
    kind,
    failedIndex: placeOf(kind, failedIndex ?? null),
    results: call.transaction === false ? results : [],
  };
}

function wanted({ results, failure }: PlainAnswer, call: Call): Told {
  const shown = resultsOf(results, call);
  if (failure === null) return { status: 200, kind: null, failedIndex: null, results: shown };
  const { kind, at } = failure;
  const failedIndex = call.transaction === null ? null : placeOf(kind, at);
  return { status: 400, kind, failedIndex, results: call.transaction === false ? shown : [] };
}

/** Which statement has broken a reference that only the commit finds broken, plain SQLite does not tell. */
function placeOf(kind: string, at: number | null): number | null {
  return kind === "foreign_key_violation" ? null : at;
}
