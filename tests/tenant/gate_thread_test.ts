// What takes an engine long is compiled by a thread of its own: with the same answers, and without keeping anybody else.
import { assertEquals, assertRejects } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import { readSyntax } from "../../lib/sql/grammar/syntax.ts";
import { compiledSchema } from "../../lib/tenant/remote/gate/compiled_schema.ts";
import { GateCompiler } from "../../lib/tenant/remote/gate/gate_compiler.ts";
import { type GateAsker, GateThread } from "../../lib/tenant/remote/gate/gate_thread.ts";
import { type SchemaGate, schemaGate } from "../../lib/tenant/remote/gate/schema_gate.ts";
import { tenantCall } from "../contracts/tenant_store.ts";
import { corpusSchema } from "../sql/corpus_schema.ts";
import { statementCorpus } from "../sql/statement_corpus.ts";

const COLUMNS = Array.from({ length: 900 }, (_, at) => `c${at}`);
const WIDE = [`CREATE TABLE w (${COLUMNS.join(", ")})`, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)"];
/** 600 characters, and 27,000 columns. */
const SLOW = Array(30).fill("SELECT * FROM w").join(" UNION ");
const ONE = { namespaceId: "ns", databaseId: "one" };
const NO_PROGRAM = new URL("./no_such_thread.ts", import.meta.url);
const QUICK = "SELECT a FROM t WHERE id = 1";

async function withGates(
  statements: readonly string[],
  body: (gate: (asker?: GateAsker) => Promise<SchemaGate>) => Promise<void>,
  gateThread = new GateThread(systemClock),
): Promise<void> {
  const schema = { engineVersion: 1, statements, analyzed: false, numbered: false };
  const context = { gateEngine: "auto", syntax: readSyntax, gateThread } as const;
  try {
    await body((asker = ONE) => schemaGate(1, schema, { context, asker }));
  } finally {
    gateThread.close();
  }
}

function asked(sql: string) {
  return [{ sql, changesSchema: false }];
}

/** What was asked, in the order in which it was answered. */
async function order(questions: Readonly<Record<string, Promise<unknown>>>): Promise<string[]> {
  const answered: string[] = [];
  await Promise.all(
    Object.entries(questions).map(async ([name, answer]) => {
      await answer;
      answered.push(name);
    }),
  );
  return answered;
}

function long(sql: string): string {
  return `${sql} /* ${"x".repeat(10_000)} */`;
}

Deno.test("whoever asks for something quick does not wait for what takes long", async () => {
  await withGates(WIDE, async (gateOf) => {
    const gate = await gateOf();
    const call = tenantCall(1, "read", [[SLOW]]);
    assertEquals(await order({ slow: gate.inspect(asked(SLOW)), quick: gate.inspect(asked(QUICK)) }), [
      "quick",
      "slow",
    ]);
    assertEquals(await order({ slow: gate.gate(call), quick: gate.gate(tenantCall(1, "read", [[QUICK]])) }), [
      "quick",
      "slow",
    ]);
    // It is known from now on.
    assertEquals(await order({ slow: gate.gate(call), quick: gate.inspect(asked(QUICK)) }), [
      "slow",
      "quick",
    ]);
    const { facts, failure } = await gate.inspect(asked(SLOW));
    assertEquals([failure, facts[0]?.tablesRead], [null, ["w"]]);
  });
});

Deno.test("short texts take long by views, triggers, joins, windows, wide tables and large schemas", async () => {
  const doubled = Array.from({ length: 8 }, (_, at) => {
    const before = at === 0 ? "t" : `v${at - 1}`;
    return `CREATE VIEW v${at} AS SELECT a FROM ${before} UNION ALL SELECT a FROM ${before}`;
  });
  const condition = Array(300).fill("new.a <> ''").join(" OR ");
  const triggers = Array.from(
    { length: 5 },
    (_, at) => `CREATE TRIGGER g${at} AFTER INSERT ON t WHEN ${condition} BEGIN SELECT 1; END`,
  );
  const many = Array.from({ length: 1300 }, (_, at) => `CREATE TABLE many${at} (id INTEGER PRIMARY KEY)`);
  const joined = Array.from({ length: 12 }, (_, at) => `JOIN t x${at} USING (id, a)`).join(" ");
  const windows = Array.from({ length: 150 }, (_, at) => `sum(a) OVER (ORDER BY ${at})`);
  for (
    const [schema, sql] of [
      [[...WIDE, ...doubled], "SELECT * FROM v7"],
      [[...WIDE, ...triggers], "INSERT INTO t (a) VALUES (1)"],
      [WIDE, `SELECT 1 FROM t ${joined}`],
      [WIDE, `SELECT ${windows} FROM t`],
      [WIDE, "SELECT * FROM w a UNION SELECT * FROM w UNION SELECT * FROM w"],
      [[...WIDE, ...many], "SELECT 1 FROM many7"],
      [WIDE, long(QUICK)],
    ] as const
  ) {
    await withGates(schema, async (gateOf) => {
      const gate = await gateOf();
      const answered = await order({
        slow: gate.inspect(asked(sql)),
        quick: gate.inspect(asked("SELECT 1")),
      });
      const isSchema = schema.length > 1000;
      assertEquals(answered[0], isSchema ? "slow" : "quick", sql.slice(0, 60));
      assertEquals((await gate.inspect(asked(sql))).failure, null, sql.slice(0, 60));
    });
  }
});

Deno.test("the thread says of the corpus what is said here", async () => {
  const texts = Object.values(statementCorpus).flat().map(([sql]) => sql).filter((sql) => {
    const read = readSyntax(sql);
    return read.ok && read.syntax.refusal === null && read.syntax.pragma === null && !sql.includes("--");
  });
  const schema = { engineVersion: 1, statements: corpusSchema, analyzed: false, numbered: false };
  const here = new GateCompiler(1, await compiledSchema("auto", schema));
  await withGates(corpusSchema, async (gateOf) => {
    const gate = await gateOf();
    for (const text of texts.filter((_, at) => at % 5 === 0)) {
      const sql = long(text);
      assertEquals(await gate.inspect(asked(sql)), here.inspect(asked(sql)), text);
      for (const level of ["read", "write", "schema"] as const) {
        const call = tenantCall(1, level, [[sql]]);
        assertEquals(await gate.gate(call), here.gate(call), `${level}: ${text}`);
      }
    }
    const update = (sql: string) => tenantCall(1, "write", [[sql]]);
    const text = "UPDATE customers SET id = 1";
    const there = await gate.previewTargets(update(long(text)));
    assertEquals(there[0]?.target.keyNames, here.previewTargets(update(text))[0]?.target.keyNames);
    assertEquals(there[0]?.unmoved?.sql.startsWith("UPDATE"), true);
  });
});

Deno.test("who asks much waits for who asks little", async () => {
  await withGates(WIDE, async (gateOf) => {
    const [one, other] = [await gateOf(), await gateOf({ ...ONE, databaseId: "other" })];
    const many = Array.from(
      { length: 4 },
      (_, at) => [`one ${at}`, one.inspect(asked(`${SLOW} LIMIT ${at}`))],
    );
    const questions = { ...Object.fromEntries(many), other: other.inspect(asked(SLOW)) };
    assertEquals(await order(questions), ["one 0", "other", "one 1", "one 2", "one 3"]);
  });
});

Deno.test("a namespace of many databases waits for one of few, and so does a database of many gates", async () => {
  await withGates(WIDE, async (gateOf) => {
    const names = ["a", "b", "c", "d"];
    const gates = await Promise.all(names.map((databaseId) => gateOf({ ...ONE, databaseId })));
    const ofOne = await gateOf({ ...ONE, databaseId: "b" });
    const stranger = await gateOf({ namespaceId: "other", databaseId: "e" });
    const many = gates.map((gate, at) => [names[at], gate.inspect(asked(`${SLOW} LIMIT ${at}`))]);
    const questions = {
      ...Object.fromEntries(many),
      "b again": ofOne.inspect(asked(`${SLOW} LIMIT 8`)),
      stranger: stranger.inspect(asked(SLOW)),
    };
    assertEquals(await order(questions), ["a", "stranger", "b", "c", "d", "b again"]);
  });
});

Deno.test("what takes too long is refused, and what comes behind it is not", async () => {
  await withGates(WIDE, async (gateOf) => {
    const gate = await gateOf();
    const slow = `${SLOW} LIMIT 7`;
    const { failure } = await gate.inspect(asked(slow));
    assertEquals([failure?.kind, (await gate.inspect(asked(QUICK))).failure], ["too_big", null]);
    const gated = await gate.gate(tenantCall(1, "read", [[slow]]));
    assertEquals([gated.sendable, gated.failure?.kind], [0, "too_big"]);
    assertEquals(await gate.previewTargets({ level: "read", statements: [] }), []);
  }, new GateThread(systemClock, 1));
});

Deno.test("where the thread's program is gone, this thread answers", async () => {
  await withGates(WIDE, async (gateOf) => {
    const { facts } = await (await gateOf()).inspect(asked(SLOW));
    assertEquals(facts[0]?.tablesRead, ["w"]);
  }, new GateThread(systemClock, 15_000, NO_PROGRAM));
});

Deno.test("its turns go by the time that it has worked for a namespace, and for a database in it", async () => {
  let nowMs = 0;
  const thread = new GateThread({ monotonicMs: () => nowMs }, 15_000, NO_PROGRAM);
  const answered: string[] = [];
  const sent = { version: 1, schema: { engineVersion: 1, statements: [], analyzed: false, numbered: false } };
  const ask = (namespaceId: string, databaseId: string, ms: number) =>
    thread.ask({ namespaceId, databaseId }, { ...sent, request: ["tables"] }, () => {
      nowMs += ms;
      answered.push(databaseId);
    });
  try {
    const three = (...asker: [string, string, number]) => [1, 2, 3].map(() => ask(...asker));
    await Promise.all([...three("a", "slow", 100), ...three("b", "quick", 1), ...three("a", "beside", 40)]);
    const [a, b, c] = ["slow", "quick", "beside"];
    assertEquals(answered, [a, b, b, b, c, c, c, a, a]);
  } finally {
    thread.close();
  }
});

/** Answers how often it was asked, and does by the version what else a thread may do. */
const COUNTING = `let asked = 0;
  postMessage({ is: "ready" });
  onmessage = ({ data: { version } }) => {
    asked++;
    if (version === 1) throw new Error("it ends");
    if (version === 2) postMessage({ is: "failure", message: "what the engine says", usedUp: false });
    else postMessage({ is: "answer", answer: asked, usedUp: version === 3 });
  };`;

Deno.test("what a thread dies of is not done here, one that is used up gets no more, and those behind them are answered", async () => {
  const thread = new GateThread(
    systemClock,
    15_000,
    new URL(`data:text/javascript,${encodeURIComponent(COUNTING)}`),
  );
  const schema = { engineVersion: 1, statements: [], analyzed: false, numbered: false };
  const ask = (version: number) =>
    thread.ask(ONE, { version, schema, request: ["tables"] }, () => "here").catch(({ message }) => message);
  try {
    const answers = await Promise.all([4, 3, 4, 1, 4, 2, 4].map(ask));
    assertEquals(answers, [1, 2, 1, null, 1, "what the engine says", 3]);
  } finally {
    thread.close();
  }
});

Deno.test("a store that closes leaves nobody waiting", async () => {
  const gateThread = new GateThread(systemClock);
  await withGates(WIDE, async (gateOf) => {
    const gate = await gateOf();
    const waiting = [gate.inspect(asked(SLOW)), gate.inspect(asked(SLOW))];
    gateThread.close();
    for (const answer of waiting) await assertRejects(() => answer);
  }, gateThread);
});

Deno.test("a call of many renames in a schema of many tables does not keep others waiting", async () => {
  const tables = Array.from({ length: 300 }, (_, at) => `CREATE TABLE t${at} (id INTEGER PRIMARY KEY, a, b)`);
  await withGates([...WIDE.slice(0, 1), ...tables], async (gateOf) => {
    const gate = await gateOf();
    const renames = Array.from({ length: 20 }, (_, at) => `ALTER TABLE t${at} RENAME COLUMN a TO renamed`);
    const call = tenantCall(1, "schema", [...renames, "SELECT renamed FROM t0"].map((sql) => [sql] as const));
    const statements = call.statements.map(({ sql }, at) => ({ sql, changesSchema: at < renames.length }));
    const quick = () => gate.inspect(asked("SELECT a FROM t0 WHERE id = 1"));
    assertEquals(await order({ slow: gate.inspect(statements), quick: quick() }), ["quick", "slow"]);
    assertEquals(await order({ slow: gate.gate(call), quick: quick() }), ["quick", "slow"]);
    assertEquals(await gate.gate(call), { sendable: 21, failure: null });
    const { facts, failure } = await gate.inspect(statements);
    assertEquals([facts.length, failure], [21, null]);
  });
});
