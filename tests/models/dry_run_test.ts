// Random writes: what a dry run and propose show beside what then happens, by the service itself and in a plain SQLite.
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { ApiAnswer } from "../testing/call_api.ts";
import { startApp } from "../testing/start_app.ts";
import { type Shown, shown } from "../writes/write_world.ts";
import { type ModelDatabase, modelDatabase } from "./model_database.ts";
import { holds } from "./model_run.ts";
import { type PlainAnswer, PlainDatabase } from "./plain_database.ts";
import { dumps, schemas } from "./random_schema.ts";
import { type Call, type Statement, writes } from "./random_statements.ts";

Deno.test("a dry run and a proposal show what then happens and change nothing", async () => {
  await using app = await startApp();
  const namespace = await app.namespace();
  const cases = fc.tuple(schemas, fc.array(writes, { minLength: 1, maxLength: 5 }));
  await holds(cases, 30, async ([schema, some]) => {
    await using database = await modelDatabase(app, namespace);
    using plain = new PlainDatabase();
    const setUp = { statements: schema.map((sql) => ({ sql, params: [] })), transaction: true };
    plain.run(setUp);
    assertEquals((await database.send(setUp)).status, 200);
    const exact = !schema.some((sql) => /REPLACE/.test(sql));
    for (const one of some) {
      const before = await contentOf(database);
      const looks = [
        await database.post("query", one, { "x-dry-run": "1" }),
        await database.post("propose", one),
      ] as const;
      assertEquals(await contentOf(database), before, `changed by a look: ${one.sql}`);
      await checkBound(database, one, looks[0]);
      assertEquals(await contentOf(database), before, `changed by a look: ${one.sql}`);
      const call: Call = { statements: [one], transaction: null };
      const real = looks[1].status === 200
        ? await database.post("apply", { executionToken: shown(looks[1]).executionToken })
        : await database.send(call);
      const wanted = plain.run(call);
      const after = await contentOf(database);
      for (const look of looks) {
        checkLook(look, real, { wanted, exact: exact && !/REPLACE/.test(one.sql) }, { before, after });
      }
      assertEquals(after, dumps.map((sql) => plain.rows(sql)), one.sql);
    }
  });
});

type Content = readonly (readonly (readonly unknown[])[])[];

/** Rows of all tables, as `dumps` has them. */
function contentOf(database: ModelDatabase): Promise<Content> {
  return Promise.all(dumps.map((sql) => database.rows(sql)));
}

/** With X-Max-Affected a look fails exactly where it shows more rows than that. */
async function checkBound(database: ModelDatabase, one: Statement, look: ApiAnswer): Promise<void> {
  if (look.status !== 200) return;
  const { estimatedAffectedRows, cascadedRows } = shown(look);
  const rows = (estimatedAffectedRows ?? 0) + (cascadedRows ?? 0);
  const bounded = (max: number) =>
    database.post("query", one, { "x-dry-run": "1", "x-max-affected": String(max) });
  assertEquals((await bounded(rows)).status, 200);
  if (rows === 0) return;
  for (const dry of [{ "x-dry-run": "1" }, {}]) {
    const refused = await database.post("query", one, { ...dry, "x-max-affected": String(rows - 1) });
    assertEquals([refused.status, refused.body.code, JSON.parse(refused.text).affected], [
      400,
      "too_many_affected",
      rows,
    ]);
  }
}

interface Around {
  readonly before: Content;
  readonly after: Content;
}

function checkLook(
  look: ApiAnswer,
  real: ApiAnswer,
  { wanted, exact }: { readonly wanted: PlainAnswer; readonly exact: boolean },
  around: Around,
): void {
  assertEquals([look.status, look.body.error, look.body.errorDetail], [
    real.status,
    real.body.error,
    real.body.errorDetail,
  ]);
  const [result] = wanted.results;
  assertEquals(look.status, result ? 200 : 400, look.text);
  if (!result) return;
  const { estimatedAffectedRows, cascadedRows, preview } = shown(look);
  assertEquals(estimatedAffectedRows, result.ownRows, look.text);
  // Rows that a conflict replaces are told as well, and SQLite counts them nowhere.
  const counted = real.body.meta?.rowsWritten ?? 0;
  const rows = result.ownRows + (cascadedRows ?? 0);
  assert(exact ? rows === counted : rows >= counted, `${look.text} ${real.text}`);
  if (preview) checkPreview(preview, result.ownRows, around);
}

/** Rows shown are rows of the table, before and after; one that is shown as changed is not there any more as it was. */
function checkPreview(
  preview: NonNullable<Shown["preview"]>,
  ownRows: number,
  { before, after }: Around,
): void {
  const at = ["t", "k", "w"].indexOf(preview.table);
  if (at < 0) return;
  const texts = (content: Content) =>
    new Set((content[at] ?? []).map((row) => JSON.stringify(withoutTypes(row))));
  const [old, now] = [texts(before), texts(after)];
  const [shownOld, shownNow] = [preview.before, preview.after].map((rows) =>
    rows.map((row) => JSON.stringify(row))
  );
  assert(shownOld !== undefined && shownNow !== undefined);
  assertEquals(shownOld.length, Math.min(10, ownRows));
  for (const row of shownOld) assert(old.has(row), `never there: ${row}`);
  for (const row of shownNow) assert(now.has(row), `not there then: ${row}`);
  for (const row of shownOld) assert(shownNow.includes(row) || !now.has(row), `still there: ${row}`);
}

/** Columns of `dumps` come with the type behind each, but the key of `k`. */
function withoutTypes(row: readonly unknown[]): readonly unknown[] {
  return row.length === 5 ? [row[0], row[1], row[3]] : row.filter((_, at) => at % 2 === 0);
}
