// The doctor's checks of a schema with many tables: it runs where everybody's requests are answered.
import { assert, assertEquals } from "@std/assert";
import { diagnose } from "../../lib/services/schema/doctor/doctor_checks.ts";
import { setImmediate } from "node:timers/promises";
import type { Examined, Finding } from "../../lib/services/schema/doctor/examined.ts";
import { rowProbes } from "../../lib/services/schema/doctor/row_probes.ts";
import type { IndexFacts } from "../../lib/services/schema/read_indexes.ts";
import type { ColumnFacts, TableFacts } from "../../lib/services/schema/schema_facts.ts";
import { startApp } from "../testing/start_app.ts";

function textOf(table: string): string {
  return `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, before INTEGER NOT NULL REFERENCES gone)`;
}

/** How often names of tables are read for a schema of so many, each of which refers to the one before; and the findings. */
async function examine(count: number) {
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
  const { statements } = await rowProbes(examined);
  return { statements, findings: await diagnose(examined), reads };
}

Deno.test("what the doctor does for each table does not go through all tables", async () => {
  const [some, more] = [await examine(200), await examine(800)];
  assert(more.reads <= 4 * some.reads + 100, `${more.reads} reads for 800 tables, ${some.reads} for 200`);
  const broken = more.findings.filter(({ code }) => code === "broken_foreign_key");
  assertEquals(broken.map(({ table, column }) => [table, column]), [["t0", "before"]]);
  assertEquals(more.findings.filter(({ code }) => code === "unindexed_foreign_key").length, 800);
});

const one: TableFacts = {
  ...{
    name: "t",
    kind: "table",
    withoutRowid: false,
    keyIsIndexed: false,
    description: "said",
    error: null,
    foreignKeys: [],
  },
  columns: ["id", "a", "b", "c"].map((name, at) => ({
    ...{ name, pk: at === 0 ? 1 : 0, type: "INTEGER", notNull: true, default: null, generated: false },
    description: "",
  })),
};

function ofOneTable(facts: Partial<Examined>, table = one): Examined {
  return {
    schema: { databaseDescription: "said", tables: [table] },
    byName: new Map([["t", table]]),
    ...{ indexes: new Map(), sources: new Map(), takenNames: new Set() },
    rows: { values: new Map(), orphans: new Set(), duplicates: new Set(), plain: new Set() },
    ...{ endpoints: [], broken: [], rules: [] },
    address: { namespaceSlug: "acme", databasePath: "main" },
    ...facts,
  };
}

Deno.test("a table's definition is read and written anew once, however many of its foreign keys lead nowhere", async () => {
  const read = async (count: number) => {
    let reads = 0;
    const gone = Array.from({ length: count }, (_, at) => `gone${at}`);
    const keys = gone.map((toTable) => ({ columns: ["a"], toTable, toColumns: ["id"] }));
    const text = gone.map((name) => `FOREIGN KEY (a) REFERENCES ${name} (id)`).join(", ");
    const source = {
      get sql() {
        reads++;
        return `CREATE TABLE t (id INTEGER PRIMARY KEY, a REFERENCES kept, b, c, ${text}, CHECK (a > 0))`;
      },
      indexesAndTriggers: [],
    };
    const examined = ofOneTable({ sources: new Map([["t", source]]) }, { ...one, foreignKeys: keys });
    const found = (await diagnose(examined)).filter(({ code }) => code === "broken_foreign_key");
    return { reads, found };
  };
  const [few, many] = [await read(20), await read(40)];
  assertEquals([few.found.length, many.found.length, many.reads], [20, 40, few.reads]);
  const texts = new Set(many.found.map(({ suggestion }) => suggestion));
  assertEquals(texts.size, 1);
  const [text = ""] = texts;
  assert(text.includes("(id INTEGER PRIMARY KEY, a REFERENCES kept, b, c, CHECK (a > 0))"), text);
});

Deno.test("indexes are not each compared with all others of their table", async () => {
  const read = async (count: number) => {
    let reads = 0;
    const names = ["a", "b", "c"];
    const indexes = Array.from({ length: count }, (_, at): IndexFacts => ({
      ...{ name: `i${at}`, unique: true, origin: "c", partial: false },
      get columns() {
        reads++;
        // Each begins as no other one does.
        return names.map((name) => ({ name, collation: name === "a" ? `own${at}` : "BINARY" }));
      },
    }));
    const prefix: IndexFacts = {
      ...{ name: "short", unique: false, origin: "c", partial: false },
      columns: [{ name: "a", collation: "own7" }],
    };
    const found = await diagnose(ofOneTable({ indexes: new Map([["t", [...indexes, prefix]]]) }));
    return {
      reads,
      redundant: found.filter(({ code }) => code === "redundant_index").map(({ message }) => message),
    };
  };
  const [few, many] = [await read(50), await read(200)];
  assert(many.reads <= 4 * few.reads + 100, `${many.reads} reads for 200 indexes, ${few.reads} for 50`);
  assertEquals(many.redundant, ["Drop the index short of t: the index i7 does what it does"]);
});

Deno.test("the doctor answers no more text than fits, lets others have their turns, and the first suggestion mends what it left out", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const names = Array.from({ length: 700 }, (_, at) => `c${at}`);
  await tenant.setup(`CREATE TABLE t (id INTEGER PRIMARY KEY, ${names.join(", ")})`);
  const examine = () => app.request("GET", `${tenant.database.path}/doctor`, { token: tenant.token });
  let [turns, examining] = [0, true];
  const others = (async () => {
    for (; examining; turns++) await setImmediate();
  })();
  const { status, body, text } = await examine();
  examining = false;
  await others;
  assertEquals(status, 200, text.slice(0, 200));
  // Each of the 700 would have the whole new definition, some 30 kB.
  assert(text.length < 3_000_000, `${text.length} characters`);
  assert(turns >= 10, `${turns} turns`);
  const found = Reflect.get(Object(body.data), "findings").filter(({ code }: Finding) =>
    code === "untyped_column"
  );
  assert(found.length > 5 && found.length < 700, String(found.length));
  const [, , call] = /^POST \S+(\/batch) (.*)$/s.exec(found[0].suggestion) ?? [];
  const mended = await app.request("POST", `${tenant.database.path}/batch`, {
    token: tenant.token,
    body: JSON.parse(call ?? ""),
  });
  assertEquals(mended.status, 200, mended.text);
  assert(!(await examine()).text.includes("untyped_column"));
});
