// A remote store's branches are compared in the process that serves everybody: it does other work while renames are tried out.
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { runWork } from "../../lib/core/run_work.ts";
import type { EngineValue } from "../../lib/sql/words/sql_value.ts";
import type { SchemaShape } from "../../lib/sql/schema/schema_shape.ts";
import { renameKey } from "../../lib/sql/schema/table_lineage.ts";
import { provenStatements } from "../../lib/tenant/branches/proven_statements.ts";
import type { TrialDatabase } from "../../lib/tenant/branches/trial_database.ts";
import { readSchema } from "../../lib/tenant/branches/read_schema.ts";
import { A_TURN, type Answer, type Ask } from "../../lib/tenant/branches/work.ts";
import { runRemotely } from "../../lib/tenant/remote/copies/side_stream.ts";

const COUNT = 30;

function openTrial(): TrialDatabase {
  const database = new DatabaseSync(":memory:");
  return {
    exec: (sql) => database.exec(sql),
    internalRows: (sql, ...params) => {
      const statement = database.prepare(sql);
      statement.setReadBigInts(true);
      return statement.all(...params).map((row): EngineValue[] => Object.values(row));
    },
    close: () => database.close(),
  };
}

/** The schema that a database has after these statements. */
function shapeOf(statements: readonly string[]): SchemaShape {
  const trial = openTrial();
  for (const sql of statements) trial.exec(sql);
  const answer = ({ statements: asked }: Ask) =>
    asked.map(({ sql }): Answer => ({ ok: true, rows: trial.internalRows(sql) }));
  const shape = runWork(readSchema("branch"), answer);
  trial.close();
  return shape;
}

Deno.test("others have a turn behind each statement by which renames are tried, and the renames are found", async () => {
  const tables = Array.from(
    { length: COUNT },
    (_, at) => `CREATE TABLE t${at} (id INTEGER PRIMARY KEY, a TEXT)`,
  );
  const renames = Array.from({ length: COUNT }, (_, at) => `ALTER TABLE "t${at}" RENAME TO u${at}`);
  const [from, to] = [shapeOf(tables), shapeOf([...tables, ...renames])];
  const known = new Set(from.objects.map((one) => renameKey(one, null, one.name.replace("t", "u"))));
  let [turns, working] = [0, true];
  const others = (async () => {
    for (; working; turns++) await setImmediate();
  })();
  const { statements } = await runRemotely(provenStatements(openTrial, from, to, known), {});
  working = false;
  await others;
  assertEquals([...statements].sort(), [...renames].sort());
  // Each table is made, and renamed.
  assert(turns >= 2 * COUNT, `${turns} turns for ${2 * COUNT} statements`);
});

Deno.test("renames of tables are tried once also where more than they has changed", async () => {
  const tables = ["CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)", "CREATE TABLE s (t REFERENCES t)"];
  const found = async (...changes: readonly string[]) => {
    const [from, to] = [shapeOf(tables), shapeOf([...tables, ...changes])];
    const table = from.objects.find(({ name }) => name === "t");
    assert(table !== undefined);
    const known = new Set([renameKey(table, null, "u")]);
    let trials = 0;
    const counted = () => {
      trials++;
      return openTrial();
    };
    const { statements } = await runRemotely(provenStatements(counted, from, to, known), {});
    return [trials, statements];
  };
  const ADDED = "CREATE TABLE more (a)";
  for (const spelled of ["u", '"u"']) {
    const renamed = `ALTER TABLE "t" RENAME TO ${spelled}`;
    assertEquals(await found(renamed, ADDED), [1, ['ALTER TABLE "t" RENAME TO u', ADDED]]);
  }
});

Deno.test("a rename is tried among the objects that it can concern: the engine reads all that are there", async () => {
  const tables = Array.from({ length: COUNT }, (_, at) => [
    `CREATE TABLE t_${at} (id INTEGER PRIMARY KEY, former REFERENCES t_${Math.max(0, at - 1)})`,
    `CREATE INDEX i${at} ON t_${at} (former) WHERE id > 0`,
  ]).flat();
  const others = ['CREATE TABLE "t_1 of" (t_1 REFERENCES t_1 (id))', "CREATE INDEX of_1 ON t_5 (id, former)"];
  const renames = Array.from({ length: COUNT }, (_, at) => `ALTER TABLE "t_${at}" RENAME TO u_${at}`);
  const [from, to] = [shapeOf([...tables, ...others]), shapeOf([...tables, ...others, ...renames])];
  const known = new Set(
    from.objects.filter(({ name }) => /^t_\d+$/.test(name)).map((one) =>
      renameKey(one, null, one.name.replace("t", "u"))
    ),
  );
  const there: number[] = [];
  const counted = () => {
    const trial = openTrial();
    const exec = (sql: string) => {
      if (sql.startsWith("ALTER TABLE")) {
        there.push(Number(trial.internalRows("SELECT count(*) FROM sqlite_schema")[0]?.[0]));
      }
      trial.exec(sql);
    };
    return { ...trial, exec };
  };
  const { statements } = await runRemotely(provenStatements(counted, from, to, known), {});
  assertEquals([...statements].sort(), [...renames].sort());
  assert(there.length >= COUNT && Math.max(...there) <= 7, `${there}`);
});

Deno.test("a turn asks no database anything", async () => {
  assertEquals(
    await runRemotely(
      (function* () {
        return (yield A_TURN).length;
      })(),
      {},
    ),
    0,
  );
});
