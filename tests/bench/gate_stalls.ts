// `deno run -A tests/bench/gate_stalls.ts`: how long texts that an engine compiles slowly keep the thread that serves from
// everything else, when the gate of a remote store compiles them there, and when it leaves them to a thread of its own. The
// longest time in which a timer of one millisecond did not come, each text new. Goal: 20 ms on a quiet machine.
import { systemClock } from "../../lib/core/clock.ts";
import { pause } from "../../lib/core/pause.ts";
import { readSyntax } from "../../lib/sql/grammar/syntax.ts";
import { compiledSchema } from "../../lib/tenant/remote/gate/compiled_schema.ts";
import { GateCompiler } from "../../lib/tenant/remote/gate/gate_compiler.ts";
import { GateThread } from "../../lib/tenant/remote/gate/gate_thread.ts";
import { schemaGate } from "../../lib/tenant/remote/gate/schema_gate.ts";
import { print } from "../testing/print.ts";

const COLUMNS = Array.from({ length: 900 }, (_, at) => `c${at}`);
const statements = [
  "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT)",
  "CREATE INDEX i ON t (a, b)",
  `CREATE TABLE w (${COLUMNS.join(", ")})`,
  `CREATE VIEW v AS ${many(150, () => "SELECT * FROM w", " UNION ")}`,
];
const schema = { engineVersion: 1, statements, analyzed: false, numbered: false };

function many(count: number, part: (at: number) => string, between = ", "): string {
  return Array.from({ length: count }, (_, at) => part(at)).join(between);
}

/** Texts whose parts a bound allows, and the longest that compile here: 10,000 characters. */
const texts: Readonly<Record<string, string>> = {
  "a list of 140,000 numbers": `SELECT 1 FROM t WHERE id IN (${many(140_000, String, ",")})`,
  "60,000 rows of values": `INSERT INTO t (a, b) VALUES ${many(60_000, (at) => `('a${at}','b')`, ",")}`,
  "50,000 row values": `SELECT 1 FROM t WHERE (a, b) IN (VALUES ${many(50_000, (at) => `(${at},1)`, ",")})`,
  "190 queries of 900 columns": many(190, () => "SELECT * FROM w", " UNION "),
  "a view of 150 queries of 900 columns": "SELECT * FROM v",
  "200 windows": `SELECT ${many(200, (at) => `sum(id) OVER (ORDER BY a, ${at})`)} FROM t`,
  "4,900 arms of CASE": `SELECT CASE a ${many(4900, (at) => `WHEN ${at} THEN ${at}`, " ")} END FROM t`,
  "38 tables by one key": `SELECT 1 FROM ${many(38, (at) => `t t${at}`)} WHERE ${
    many(37, (at) => `t${at}.a = t${at + 1}.a`, " AND ")
  }`,
  "quick: a list of 1,900 numbers": `SELECT 1 FROM t WHERE id IN (${many(1900, String, ",")})`,
  "quick: 700 comparisons": `SELECT 1 FROM t WHERE ${many(700, (at) => `a = ${at}`, " OR ")}`,
  "quick: 450 arms of CASE": `SELECT CASE a ${many(450, (at) => `WHEN ${at} THEN ${at}`, " ")} END FROM t`,
  "quick: 600 rows of values": `INSERT INTO t (a, b) VALUES ${many(600, (at) => `('a${at}','b')`)}`,
  "quick: 5 queries of 900 columns": "SELECT w.c1 FROM w, w x WHERE w.c1 = x.c2 ORDER BY w.c3",
};

/** The longest time without the timer while something is asked, in milliseconds. */
async function longestPause(ask: () => unknown): Promise<number> {
  let longest = 0;
  let lastMs = systemClock.monotonicMs();
  const look = () => {
    const nowMs = systemClock.monotonicMs();
    longest = Math.max(longest, nowMs - lastMs);
    lastMs = nowMs;
  };
  const timer = setInterval(look, 1);
  await ask();
  await pause(5);
  clearInterval(timer);
  return longest;
}

const gateThread = new GateThread(systemClock);
const compilers = { gateEngine: "auto", syntax: readSyntax, gateThread } as const;
const gate = await schemaGate(1, schema, {
  context: compilers,
  asker: { namespaceId: "ns", databaseId: "db" },
});
const compiler = new GateCompiler(1, await compiledSchema("auto", schema));
// Starts the thread and both engines.
await gate.inspect([{ sql: `${texts["200 windows"]} LIMIT 0`, changesSchema: false }]);
compiler.inspect([{ sql: "SELECT 1", changesSchema: false }]);
for (const [name, sql] of Object.entries(texts)) {
  const [one, other] = [`${sql} -- one`, `${sql} -- other`].map((
    text,
  ) => [{ sql: text, changesSchema: false }]);
  const there = await longestPause(() => gate.inspect(one ?? []));
  const here = await longestPause(() => compiler.inspect(other ?? []));
  print(
    `${name.padEnd(40)} ${here.toFixed(0).padStart(6)} ms here, ${
      there.toFixed(0).padStart(6)
    } ms with a thread`,
  );
}
gateThread.close();
