// The doctor's checks of a schema with many tables: it runs where everybody's requests are answered.
import { assert, assertEquals } from "@std/assert";
import { diagnose } from "../../lib/services/schema/doctor/doctor_checks.ts";
import type { Examined } from "../../lib/services/schema/doctor/examined.ts";
import { rowProbes } from "../../lib/services/schema/doctor/row_probes.ts";
import type { ColumnFacts, TableFacts } from "../../lib/services/schema/schema_facts.ts";

function textOf(table: string): string {
  return `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, before INTEGER NOT NULL REFERENCES gone)`;
}

/** How often names of tables are read for a schema of so many, each of which refers to the one before; and the findings. */
function examine(count: number) {
  let reads = 0;
  const column = (name: string, pk: number): ColumnFacts => ({
    ...{ name, pk, type: "INTEGER", notNull: true, default: null, generated: false, description: "" },
  });
  const tables = Array.from({ length: count }, (_, at): TableFacts => ({
    get name() {
      reads++;
      return `t${at}`;
    },
    ...{ kind: "table", withoutRowid: false, keyIsIndexed: false, description: "said", error: null },
    columns: [column("id", 1), column("before", 0)],
    foreignKeys: [{ columns: ["before"], toTable: at === 0 ? "gone" : `t${at - 1}`, toColumns: ["id"] }],
  }));
  const examined: Examined = {
    schema: { databaseDescription: "said", tables },
    byName: new Map(tables.map((table) => [table.name, table])),
    ...{ indexes: new Map(), takenNames: new Set() },
    sources: new Map(tables.map(({ name }) => [name, { sql: textOf(name), indexesAndTriggers: [] }])),
    rows: { values: new Map(), orphans: new Set(), duplicates: new Set(), plain: new Set() },
    ...{ endpoints: [], broken: [], rules: [] },
    address: { namespaceSlug: "acme", databasePath: "main" },
  };
  const { statements } = rowProbes(examined);
  return { statements, findings: diagnose(examined), reads };
}

Deno.test("what the doctor does for each table does not go through all tables", () => {
  const [some, more] = [examine(200), examine(800)];
  assert(more.reads <= 4 * some.reads + 100, `${more.reads} reads for 800 tables, ${some.reads} for 200`);
  const broken = more.findings.filter(({ code }) => code === "broken_foreign_key");
  assertEquals(broken.map(({ table, column }) => [table, column]), [["t0", "before"]]);
  assertEquals(more.findings.filter(({ code }) => code === "unindexed_foreign_key").length, 800);
});
