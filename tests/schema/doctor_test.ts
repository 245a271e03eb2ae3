// Every code of the doctor: found where it should be, nowhere else, and gone when its suggestion has run.
import { assert, assertEquals } from "@std/assert";
import { startApp } from "../testing/start_app.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { examine, follow, make, placesOf, runSuggestion, troubled } from "./doctor_findings.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("the doctor", run);

const expected: Readonly<Record<string, readonly string[]>> = {
  broken_foreign_key: ["astray.nick", "halves.a", "halves.n", "lost.gone_id", "lost.x", "orders.customer_id"],
  missing_pk: ["codes", "events"],
  unnumbered_key: ["serials.serial_no"],
  unindexed_foreign_key: [
    ...["astray.nick", "halves.a", "halves.n", "lost.gone_id", "lost.x", "orders.customer_id"],
  ],
  integer_text_mix: ["tickets.price", "tickets.weight", "words.word_no"],
  redundant_index: ["invoices.id", "invoices.order_id"],
  untyped_column: ["loose.la", "loose.lb", "loose.lc"],
  ambiguous_column_name: ["customers.status", "orders.total"],
  reserved_word_name: ["order", "order.group"],
};

test("doctor finds what is wrong under every code, and nothing else", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await make(tenant, troubled);
  const doctor = await examine(app, tenant);
  assertEquals(doctor.tablesScanned, 14);
  assert(!Number.isNaN(Date.parse(doctor.generatedAt)));
  for (const [code, places] of Object.entries(expected)) {
    assertEquals(placesOf(doctor, code).sort(), places, code);
  }
});

test("every suggestion runs as it stands and silences its finding, until the schema is sound", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await make(tenant, troubled);
  const codes = new Set<string>();
  for (let rounds = 0;; rounds++) {
    const [finding] = (await examine(app, tenant)).findings;
    if (!finding) break;
    assert(rounds < 100, JSON.stringify(finding));
    codes.add(finding.code);
    await follow(app, tenant, finding);
  }
  assertEquals([...codes].sort(), [...Object.keys(expected), "missing_description"].sort());
  const kept = await tenant.batch([
    ["SELECT id, happened, note FROM events ORDER BY id"],
    ["SELECT * FROM latest"],
    ["SELECT id, la, lb, lc FROM loose"],
    ["SELECT serial_no, serial_text FROM serials ORDER BY serial_no"],
    ["SELECT name FROM sqlite_schema WHERE name IN ('events_happened', 'events_kept') ORDER BY name"],
  ]);
  assertEquals(rowsOf(kept, 0), [[1, "mon", "x"], [2, "tue", "y"]]);
  assertEquals(rowsOf(kept, 1), [[1, "mon", "x"], [2, "tue", "y"]]);
  assertEquals(rowsOf(kept, 2), [[5, "text", 1, null], [9, 2, 2.5, 3]]);
  assertEquals(rowsOf(kept, 3), [[7, "a"], [8, "b"], [9, "c"]]);
  assertEquals(rowsOf(kept, 4), [["events_happened"], ["events_kept"]]);
});

test("all suggestions of one examination run in its order, none undoes another, and all findings are gone", async () => {
  const more = [
    "CREATE TABLE m (a, b TEXT)",
    "INSERT INTO m VALUES (1, 'x'), (2, 'y')",
    "CREATE TABLE marks (code INTEGER NOT NULL UNIQUE, n, data TEXT)",
    "INSERT INTO marks VALUES (7, 1.5, 'p'), (9, 2, 'q')",
    // Lacks all at once: key, types, target, index, sense of a number, names.
    'CREATE TABLE "select" ("from", at TEXT REFERENCES absent(id), up INTEGER REFERENCES customers(id), ' +
    "size INTEGER, value TEXT)",
    'CREATE INDEX select_size ON "select" (size)',
    'CREATE INDEX select_size_up ON "select" (size, up)',
    "INSERT INTO \"select\" VALUES (1, NULL, 1, 'large', 'v'), (2, NULL, NULL, 4, 'w')",
  ];
  for (const schema of [["CREATE TABLE m (a, b TEXT)"], more.slice(0, 4), [...troubled, ...more.slice(4)]]) {
    await using app = await startApp();
    const tenant = await app.namespace();
    await make(tenant, schema);
    const { findings } = await examine(app, tenant);
    assert(findings.length >= 3);
    for (const finding of findings) {
      const ran = await runSuggestion(app, tenant, finding.suggestion);
      assertEquals(ran.status, 200, `${JSON.stringify(finding)}: ${ran.text}`);
    }
    const left = (await examine(app, tenant)).findings;
    const same = left.filter((one) =>
      findings.some(({ code, table, column }) =>
        code === one.code && table === one.table && column === one.column
      )
    );
    assertEquals(same, []);
    if (schema.length < 10) assertEquals(left, []);
    if (schema.length === 4) {
      const rows = await tenant.batch([["SELECT * FROM m"], ["SELECT * FROM marks"]]);
      assertEquals([rowsOf(rows, 0), rowsOf(rows, 1)], [[[1, 1, "x"], [2, 2, "y"]], [[7, 1.5, "p"], [
        9,
        2,
        "q",
      ]]]);
    }
    if (schema.length < 10) continue;
    const kept = await tenant.batch([
      ["SELECT id, select_from, at, up, size, select_value, size_text FROM select_table ORDER BY id"],
      ["SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'select_table' AND sql NOT NULL"],
    ]);
    assertEquals(rowsOf(kept, 0), [[1, 1, null, 1, null, "v", "large"], [2, 2, null, null, 4, "w", null]]);
    assertEquals(rowsOf(kept, 1).flat().sort(), ["select_at", "select_size_up", "select_up"]);
  }
});

test("a sound schema has no findings, and an empty one neither", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  assertEquals((await examine(app, tenant)).findings, []);
  await make(tenant, [
    "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born DATE, parent_id INTEGER REFERENCES people)",
    "CREATE INDEX people_parent ON people(parent_id)",
    "CREATE INDEX people_young ON people(parent_id) WHERE born > '2000'",
    "CREATE INDEX people_lower ON people(lower(name))",
    "CREATE TABLE towns (country TEXT, town TEXT, mayor_id INTEGER REFERENCES people(id), " +
    "PRIMARY KEY (country, town)) WITHOUT ROWID",
    "CREATE INDEX towns_mayor ON towns(mayor_id)",
    "CREATE VIRTUAL TABLE notes USING fts5(body)",
    "CREATE VIEW young AS SELECT name FROM people",
    "INSERT INTO people VALUES (1, 'Ada', '1990-01-01', NULL), (2, 'Bo', 1990, 1)",
    "INSERT INTO towns VALUES ('pt', 'Lisbon', 1)",
  ]);
  const described = await app.request("PUT", `${tenant.database.path}/describe`, {
    token: tenant.token,
    body: { tables: ["people", "towns", "notes"].map((table) => ({ table, description: `Our ${table}` })) },
  });
  assertEquals(described.status, 200, described.text);
  assertEquals((await examine(app, tenant)).findings, []);
});

test("a key over several columns is checked and mended as one", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await make(tenant, [
    "CREATE TABLE seats (hall TEXT, number INTEGER, PRIMARY KEY (hall, number))",
    "CREATE TABLE bookings (id INTEGER PRIMARY KEY, hall TEXT NOT NULL, number TEXT, " +
    "FOREIGN KEY (hall, number) REFERENCES seats)",
    "CREATE INDEX bookings_seat ON bookings(number, hall)",
    "PRAGMA foreign_keys = OFF",
    "INSERT INTO seats VALUES ('a', 1)",
    "INSERT INTO bookings VALUES (1, 'a', '1'), (2, 'a', NULL), (3, 'b', '7')",
  ]);
  const doctor = await examine(app, tenant);
  assertEquals(placesOf(doctor, "unindexed_foreign_key"), []);
  const [broken] = doctor.findings.filter(({ code }) => code === "broken_foreign_key");
  assertEquals([broken?.table, broken?.column, broken?.severity], ["bookings", "hall", "error"]);
  if (broken) await follow(app, tenant, broken);
  assertEquals(rowsOf(await tenant.query("SELECT * FROM bookings")), [[1, "a", "1"], [2, "a", null], [
    3,
    "b",
    null,
  ]]);
});

test("suggestions survive names of any kind", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await make(tenant, [
    `CREATE TABLE "a ""b"" (c; d" /* ( */ ("x, y" , 'z''' TEXT, "rowid" REFERENCES "no "" table"("é") -- end
    , UNIQUE ("x, y"))`,
    'CREATE TABLE "no "" table" ("é" PRIMARY KEY)',
    'INSERT INTO "no "" table" VALUES (3)',
    `INSERT INTO "a ""b"" (c; d" VALUES ('one', 'two', 3)`,
    "PRAGMA foreign_keys = OFF",
    'DROP TABLE "no "" table"',
  ]);
  for (;;) {
    const [finding] = (await examine(app, tenant)).findings;
    if (!finding) break;
    await follow(app, tenant, finding);
  }
  const rows = rowsOf(await tenant.query(`SELECT id, "x, y", "z'", "rowid" FROM "a ""b"" (c; d"`));
  assertEquals(rows, [[1, "one", "two", 3]]);
});

test("drafted descriptions spell words as their names do, accents included", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await make(tenant, [
    'CREATE TABLE "Größe" ("länge_mm" INTEGER PRIMARY KEY, "façadeÉtage" TEXT, "हिन्दी" TEXT)',
  ]);
  const { findings } = await examine(app, tenant);
  assertEquals(findings.map(({ suggestion }) => /"description":"(.*?)"/.exec(suggestion)?.[1]), [
    "Größe: länge mm, façade étage, हिन्दी",
  ]);
});

test("a reader may examine, and what the doctor suggests asks for the role it needs", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await make(tenant, ["CREATE TABLE events (happened TEXT)"]);
  const reader = { ...tenant, ...await tenant.mint("read") };
  const { findings } = await examine(app, reader);
  const batch = findings.find(({ code }) => code === "missing_pk");
  assertEquals((await runSuggestion(app, reader, batch?.suggestion ?? "")).status, 403);
});

test("text that a CHECK names stays where it is, and a number in its place is one that the CHECK takes", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await make(tenant, [
    "CREATE TABLE lamps (id INTEGER PRIMARY KEY, level INTEGER NOT NULL CHECK (level IN ('low', 'high')), " +
    "room INT NOT NULL CHECK (room > 0 OR lower(room) = 'attic'), watts REAL NOT NULL CHECK (watts > 0), " +
    "hours INTEGER NOT NULL CHECK (hours <> ''), age INTEGER CHECK (age > 0), " +
    "kind TEXT, lot INTEGER NOT NULL, CHECK (lot > 0 OR kind = 'old'), CHECK (lot IS NOT NULL AND typeof(kind) = 'text'))",
    "INSERT INTO lamps VALUES (1, 'low', 7, 2.5, 3, 4, 'new', 8), (2, 'high', 'Attic', 'bright', 'some', 'young', 'new', 'x9')",
  ]);
  const findings = (await examine(app, tenant)).findings.filter(({ code }) => code === "integer_text_mix");
  assertEquals(findings.map(({ message }) => message).sort(), [
    "Declare level of lamps as TEXT: its CHECK names texts as values",
    "Declare room of lamps as BLOB: its CHECK names texts as values",
    ...["age", "hours", "lot"].map((name) =>
      `Move the text out of ${name} of lamps, which is declared INTEGER`
    ),
    "Move the text out of watts of lamps, which is declared REAL",
  ]);
  for (const finding of findings) {
    const left = (await examine(app, tenant)).findings.some(({ message }) => message === finding.message);
    if (left) await follow(app, tenant, finding);
  }
  const rows = await tenant.query(
    "SELECT level, room, watts, watts_text, hours, hours_text, age, age_text, lot, lot_text FROM lamps ORDER BY id",
  );
  assertEquals(rowsOf(rows), [
    ["low", 7, 2.5, null, 3, null, 4, null, 8, null],
    ["high", "Attic", 2.5, "bright", 3, "some", null, "young", 8, "x9"],
  ]);
  const wrong = await tenant.query("INSERT INTO lamps (level) VALUES ('dim')");
  assertEquals([wrong.status, wrong.body.errorDetail?.kind], [400, "not_null_violation"]);
});
