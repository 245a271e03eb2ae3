// The gate compiles with one of two builds of SQLite; whatever it says must not depend on which.
import { assert, assertEquals, assertThrows } from "@std/assert";
import { serviceTableStatements } from "../../lib/sql/words/service_tables.ts";
import { readSyntax } from "../../lib/sql/grammar/syntax.ts";
import { CompiledSchema } from "../../lib/tenant/remote/gate/compiled_schema.ts";
import { type GateEngine, gateEngine } from "../../lib/tenant/remote/gate/gate_engine.ts";
import { GateCompiler } from "../../lib/tenant/remote/gate/gate_compiler.ts";
import type { Level } from "../../lib/engine/guard.ts";
import type { TenantStatement } from "../../lib/tenant/tenant_statement.ts";
import { someOf } from "../testing/rounds.ts";
import { tenantCall } from "../contracts/tenant_store.ts";
import { corpusSchema } from "../sql/corpus_schema.ts";
import { statementCorpus } from "../sql/statement_corpus.ts";

const LEVELS: readonly Level[] = ["read", "write", "schema"];
const texts = Object.values(statementCorpus).flat().map(([sql]) => sql);

/** Oracles of one schema in both builds. */
async function both(statements: readonly string[], body: (node: GateCompiler, wasm: GateCompiler) => void) {
  const schema = { engineVersion: 1, statements, analyzed: true, numbered: false };
  const compiled = async (engine: GateEngine) => new CompiledSchema(await gateEngine(engine, []), schema);
  const [node, wasm] = [await compiled("node"), await compiled("wasm")];
  try {
    body(new GateCompiler(1, node), new GateCompiler(1, wasm));
  } finally {
    node.close();
    wasm.close();
  }
}

function changesSchema(sql: string): boolean {
  const read = readSyntax(sql);
  return read.ok && read.syntax.class === "schema" && read.syntax.pragma === null;
}

/** What the pipeline would let through to be compiled: a PRAGMA would run. */
function reachesEngine(sql: string): boolean {
  const read = readSyntax(sql);
  return read.ok && read.syntax.refusal === null && read.syntax.pragma === null;
}

function parameters(sql: string): null[] {
  const read = readSyntax(sql);
  return Array<null>(read.ok ? read.syntax.parameterCount : 0).fill(null);
}

Deno.test("every statement of the corpus has the same facts or the same failure in both builds", async () => {
  await both([...serviceTableStatements, ...corpusSchema], (node, wasm) => {
    const compiled = texts.filter(reachesEngine);
    for (const sql of compiled) {
      const statement = { sql, changesSchema: changesSchema(sql) };
      assertEquals(wasm.inspect([statement]), node.inspect([statement]), sql);
      // A statement behind it makes the change happen in a copy of the schema.
      const batch = [statement, { sql: "SELECT count(*) FROM orders", changesSchema: false }];
      assertEquals(wasm.inspect(batch), node.inspect(batch), `${sql}, and another one`);
    }
    assert(texts.length >= 509 && compiled.length >= 250, `${compiled.length} of ${texts.length}`);
  });
});

Deno.test("every statement of the corpus passes or is stopped at each level alike in both builds", async () => {
  await both([...serviceTableStatements, ...corpusSchema], (node, wasm) => {
    for (const sql of texts) {
      for (const level of LEVELS) {
        const call = tenantCall(1, level, [[sql, ...parameters(sql)]]);
        assertEquals(wasm.gate(call), node.gate(call), `${level}: ${sql}`);
        const [statement] = call.statements;
        assert(statement !== undefined);
        assertEquals(target(wasm, statement), target(node, statement), sql);
      }
    }
  });
});

/** The same statement as a long text. */
function long(sql: string): string {
  return `${sql}\n/*${"-".repeat(10_000)}*/`;
}

type Verdicts = readonly unknown[];

/** What a gate of its own says: the engine compiles no virtual table's statements before one is touched. */
async function freshly(body: (gate: GateCompiler) => Verdicts): Promise<Verdicts> {
  const statements = [...serviceTableStatements, ...corpusSchema];
  const schema = { engineVersion: 1, statements, analyzed: true, numbered: false };
  const compiled = new CompiledSchema(await gateEngine("node", []), schema);
  try {
    return body(new GateCompiler(1, compiled));
  } finally {
    compiled.close();
  }
}

Deno.test("a long text has the facts and verdicts of the short one, and known facts change no verdict", async () => {
  for (const sql of someOf(texts.filter(reachesEngine), 4)) {
    const statement = { sql, changesSchema: changesSchema(sql) };
    const verdicts = (gate: GateCompiler, text: string) =>
      LEVELS.map((level) => gate.gate(tenantCall(1, level, [[text, ...parameters(sql)]])));
    const facts = (gate: GateCompiler, text: string) => gate.inspect([{ ...statement, sql: text }]);
    const expected = await freshly((gate) => verdicts(gate, sql));
    const [short, extended] = [sql, long(sql)];
    assertEquals(await freshly((gate) => verdicts(gate, extended)), expected, sql);
    const known = [await freshly((gate) => [facts(gate, short)]), expected].flat();
    for (const text of [short, extended]) {
      assertEquals(await freshly((gate) => [facts(gate, text), ...verdicts(gate, text)]), known, sql);
    }
  }
});

Deno.test("a call joins no more than an engine plans in a moment, and what was too much in one call is not in the next", async () => {
  const statements = ["CREATE TABLE t (a, b, c)", "CREATE INDEX i ON t (a, b, c)"];
  const schema = { engineVersion: 1, statements, analyzed: false, numbered: false };
  const compiled = new CompiledSchema(await gateEngine("node", []), schema);
  const gate = new GateCompiler(1, compiled);
  const joined = (at: number, tables: number) => {
    const others = Array.from({ length: tables - 1 }, (_, at) => `JOIN t x${at} USING (a, b)`);
    return `SELECT ${at} FROM t ${others.join(" ")}`;
  };
  const call = (...texts: string[]) => ({
    inspected: gate.inspect(texts.map((sql) => ({ sql, changesSchema: false }))),
    gated: gate.gate(tenantCall(1, "read", texts.map((sql) => [sql] as const))),
  });
  const wide = Array.from({ length: 10 }, (_, at) => joined(at, 20));
  const { inspected, gated } = call(...wide);
  assertEquals([inspected.facts.length, inspected.failure?.kind], [3, "too_big"]);
  assertEquals([gated.sendable, gated.failure?.kind], [3, "too_big"]);
  const [first = "", , , fourth = ""] = wide;
  const usual = Array.from({ length: 100 }, (_, at) => joined(at, 6));
  for (const texts of [[fourth], [first, fourth], usual]) {
    const { inspected, gated } = call(...texts);
    assertEquals([inspected.failure, gated.failure, gated.sendable], [null, null, texts.length]);
  }
  compiled.close();
});

Deno.test("views that a call makes count in what follows them in it, and in no other call", async () => {
  const schema = { engineVersion: 1, statements: ["CREATE TABLE t (a)"], analyzed: false, numbered: false };
  const compiled = new CompiledSchema(await gateEngine("node", []), schema);
  const gate = new GateCompiler(1, compiled);
  const views = Array.from({ length: 12 }, (_, at) => {
    const before = at === 0 ? "t" : `v${at - 1}`;
    return `CREATE VIEW v${at} AS SELECT a FROM ${before} UNION ALL SELECT a FROM ${before}`;
  });
  const failuresOf = (...texts: string[]) => {
    const statements = texts.map((sql) => ({ sql, changesSchema: sql.startsWith("CREATE") }));
    const { failure } = gate.inspect(statements);
    const gated = gate.gate(tenantCall(1, "schema", texts.map((sql) => [sql] as const)));
    return [failure?.kind, gated.failure?.kind];
  };
  assertEquals(failuresOf(...views, "SELECT a FROM v11"), ["too_big", "too_big"]);
  assertEquals(failuresOf("SELECT a FROM v11"), ["unknown_table", "unknown_table"]);
  compiled.close();
});

Deno.test("long chains of AND and many windows never reach the engine, and long lists and chains of OR do", async () => {
  const schema = {
    engineVersion: 1,
    statements: ["CREATE TABLE t (a, b)"],
    analyzed: false,
    numbered: false,
  };
  const compiled = new CompiledSchema(await gateEngine("node", []), schema);
  const gate = new GateCompiler(1, compiled);
  const kind = (sql: string) => gate.inspect([{ sql, changesSchema: false }]).failure?.kind ?? null;
  const many = (part: string, count: number): string =>
    count === 1 ? part : `(${many(part, count >> 1)} AND ${many(part, count - (count >> 1))})`;
  for (
    const sql of [
      `SELECT 1 FROM t WHERE ${many("a = b", 2001)}`,
      `SELECT ${many("a = b", 2001)} FROM t`,
      `UPDATE t SET a = 1 WHERE b = 2 OR (${many("a = b", 2001)})`,
      `SELECT 1 FROM t WHERE ${many("(a, b) = (1, 2)", 1001)}`,
      `SELECT 1 FROM t WHERE ${many("a BETWEEN 1 AND b", 700)}`,
      `SELECT ${many("sum(a) OVER (ORDER BY b)", 201)} FROM t`,
      `SELECT CASE a ${"WHEN 1 THEN b ".repeat(10_001)} END FROM t`,
      `SELECT 1 FROM t WHERE a IN (${Array(10_001).fill("b").join(",")})`,
      `SELECT 1 FROM t WHERE ${many("(SELECT a = 1 AND b = 2)", 2001)}`,
    ]
  ) {
    assertEquals(kind(sql), "too_big", sql.slice(0, 60));
  }
  for (
    const sql of [
      `SELECT 1 FROM t WHERE ${many("a = b", 2000)}`,
      `SELECT 1 FROM t WHERE ${many("a = b AND b = 2", 500).replaceAll(") AND (", ") OR (")}`,
      `INSERT INTO t VALUES ${Array(10_001).fill("(lower('A'), -1)").join(",")}`,
      `SELECT 1 FROM t WHERE a IN (${Array(9000).fill("1").join(",")})`,
      `SELECT CASE ${"WHEN a = 1 AND b = 2 THEN 3 ".repeat(1500)} END FROM t`,
    ]
  ) {
    assertEquals(kind(sql), null, sql.slice(0, 60));
  }
  const chains = Array.from({ length: 4 }, (_, at) => `SELECT ${at} FROM t WHERE ${many("a = b", 1900)}`);
  const { facts, failure } = gate.inspect(chains.map((sql) => ({ sql, changesSchema: false })));
  assertEquals([facts.length, failure?.kind], [2, "too_big"]);
  compiled.close();
});

for (const engine of ["node", "wasm"] as const) {
  Deno.test(`a long text is compiled once for its facts and once for its level, by ${engine}`, async () => {
    const open = await gateEngine(engine, []);
    const schema = { engineVersion: 1, statements: ["CREATE TABLE t (a)"], analyzed: false, numbered: false };
    const compiled = new CompiledSchema(open, schema);
    const { connection } = compiled;
    const levels: Level[] = [];
    const compile = connection.compile.bind(connection);
    connection.compile = (level, sql) => {
      levels.push(level);
      compile(level, sql);
    };
    const gate = new GateCompiler(1, compiled);
    const sql = long("INSERT INTO t VALUES (1)");
    assertEquals(gate.inspect([{ sql, changesSchema: false }]).failure, null);
    assertEquals(gate.gate(tenantCall(1, "write", [[sql]])).failure, null);
    assertEquals(levels, ["schema", "write"]);
    assertEquals(gate.gate(tenantCall(1, "read", [[sql]])).failure?.kind, "denied");
    compiled.close();
  });
}

function target(schemaGate: GateCompiler, statement: TenantStatement): unknown {
  try {
    return schemaGate.previewTargets({ level: statement.level, statements: [statement] })[0] ?? null;
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}

Deno.test("tables are listed alike in both builds", async () => {
  await both([...serviceTableStatements, ...corpusSchema], (node, wasm) => {
    assert(node.tables().length > 10);
    assertEquals(wasm.tables(), node.tables());
  });
});

Deno.test("a statement of thousands of queries inside one another is refused before an engine sees it", async () => {
  const chain = (length: number) =>
    `WITH ${
      Array.from({ length }, (_, at) => `c${at + 1} AS (SELECT * FROM ${at === 0 ? "customers" : `c${at}`})`)
    } SELECT * FROM c${length}`;
  await both(corpusSchema, (node, wasm) => {
    for (const schemaGate of [node, wasm]) {
      assertEquals(schemaGate.inspect([{ sql: chain(200), changesSchema: false }]).failure, null);
      assertEquals(schemaGate.inspect([{ sql: chain(5000), changesSchema: false }]).failure?.kind, "too_big");
      assertEquals(schemaGate.gate(tenantCall(1, "read", [[chain(5000)]])).failure?.kind, "too_big");
      const hidden = `WITH c0 AS (VALUES (1)), ${
        Array.from({ length: 5000 }, (_, at) => `c${at + 1} AS (VALUES (1 IN c${at}))`)
      } SELECT 1 IN c5000`;
      assertEquals(schemaGate.gate(tenantCall(1, "read", [[hidden]])).failure?.kind, "too_big");
      // Words in a value are no queries.
      const text = `SELECT '${"select ".repeat(5000)}'`;
      assertEquals(schemaGate.gate(tenantCall(1, "read", [[text]])), { sendable: 1, failure: null });
    }
  });
});

Deno.test("views stacked higher than an engine can go neither end the process nor spoil what comes next", async () => {
  const views = (count: number) => [
    "CREATE TABLE v0 (a)",
    ...Array.from({ length: count }, (_, at) => `CREATE VIEW v${at + 1} AS SELECT a FROM v${at}`),
  ];
  for (const count of [100, 700, 5000]) {
    const statements = views(count);
    const schema = { engineVersion: 1, statements, analyzed: false, numbered: false };
    const compiled = new CompiledSchema(await gateEngine("auto", statements), schema);
    const schemaGate = new GateCompiler(1, compiled);
    const { failure } = schemaGate.inspect([{ sql: `SELECT * FROM v${count}`, changesSchema: false }]);
    assertEquals(failure?.kind, count < 5000 ? undefined : "too_big", `${count} views`);
    compiled.close();
  }
});

Deno.test("a chain of triggers is understood alike in both builds, and refused where it is too long", async () => {
  for (const length of [200, 1500]) {
    const tables = Array.from({ length: length + 1 }, (_, at) => `CREATE TABLE t${at} (a)`);
    const triggers = Array.from(
      { length },
      (_, at) =>
        `CREATE TRIGGER g${at} AFTER INSERT ON t${at} BEGIN INSERT INTO t${at + 1} SELECT new.a; END`,
    );
    await both([...tables, ...triggers], (node, wasm) => {
      const insert = [{ sql: "INSERT INTO t0 VALUES (1)", changesSchema: false }];
      const found = [node, wasm].map((schemaGate) => schemaGate.inspect(insert));
      if (length > 250) return assertEquals(found.map(({ facts }) => facts), [[], []]);
      assertEquals(found[0]?.facts[0]?.tablesWritten.length, length + 1, JSON.stringify(found[0]?.failure));
      assertEquals(found[1], found[0]);
    });
  }
});

Deno.test("an engine that was cut off in the middle of its work is replaced", async () => {
  const chain = Array.from({ length: 5000 }, (_, at) => `c${at + 1} AS (SELECT * FROM c${at})`);
  const sql = `WITH c0 AS (SELECT 1), ${chain} SELECT * FROM c5000`;
  const first = (await gateEngine("wasm", []))();
  assertThrows(() => first.compile("read", sql), /call stack/);
  assertEquals(first.broken, true);
  first.close();
  const second = (await gateEngine("wasm", []))();
  second.compile("read", "SELECT 1");
  assertEquals(second.broken, false);
  second.close();
});
