// What an export asks a file before it writes a line. Each question that goes through all tables takes the longer the more there are.
import { assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { runWork } from "../../lib/core/run_work.ts";
import { allRows } from "../../lib/tenant/transfer/child/engine_rows.ts";
import { type FilePlan, planFile } from "../../lib/tenant/transfer/child/file_plan.ts";

interface Planned {
  readonly plan: FilePlan;
  /** The questions that are about no single table. */
  readonly ofAll: readonly string[];
}

function planOf(count: number): Planned {
  using db = new DatabaseSync(":memory:");
  for (let at = 0; at < count; at++) {
    db.exec(`CREATE TABLE plain${at} (id INTEGER PRIMARY KEY, v)`);
    db.exec(`CREATE TABLE "Keyed${at}" (k TEXT PRIMARY KEY, v) WITHOUT ROWID`);
    db.exec(`CREATE VIRTUAL TABLE words${at} USING fts5(body)`);
  }
  const ofAll: string[] = [];
  const plan = runWork(planFile(null, "UTF-8"), ({ sql, params }) => {
    if (/sqlite_schema|pragma_table_list/.test(sql)) ofAll.push(sql);
    return allRows(db, sql, ...params);
  });
  return { plan, ofAll };
}

Deno.test("all tables are listed as often for many tables as for a few", () => {
  const [few, many] = [planOf(1), planOf(40)];
  assertEquals(many.ofAll, few.ofAll);
  const { tables, virtual } = many.plan;
  assertEquals([tables.length, virtual.length], [80, 40]);
  assertEquals(
    tables.filter(({ key }) => key === null).map(({ name }) => name.slice(0, 5)),
    Array(40).fill("Keyed"),
  );
  assertEquals(new Set(virtual.map(({ storage }) => storage.length)), new Set([5]));
});
