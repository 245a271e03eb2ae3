// Which databases of a remote store share one compiled schema: those with the very same texts.
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  charactersMade,
  CompiledSchema,
  compiledSchema,
} from "../../lib/tenant/remote/gate/compiled_schema.ts";
import { knownCharacters } from "../../lib/tenant/remote/gate/known_texts.ts";
import { gateEngine } from "../../lib/tenant/remote/gate/gate_engine.ts";
import { GateCompiler } from "../../lib/tenant/remote/gate/gate_compiler.ts";

const PARENT = "CREATE TABLE p (id INTEGER PRIMARY KEY, a TEXT)";
const CHILD = "CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p ON DELETE CASCADE)";
const PLAIN = "CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p)";
const DELETE = { sql: "DELETE FROM p WHERE id = 1", changesSchema: false };

async function gateOf(statements: readonly string[], version = 1): Promise<GateCompiler> {
  const schema = { engineVersion: version, statements, analyzed: false, numbered: false };
  return new GateCompiler(version, await compiledSchema("auto", schema));
}

function written(gate: GateCompiler, foreignKeysOff = false): readonly string[] | undefined {
  return gate.inspect([DELETE], { foreignKeysOff }).facts[0]?.tablesWritten;
}

Deno.test("databases with the same schema share it, each with its own version", async () => {
  const statements = [PARENT, CHILD];
  const schema = { engineVersion: 1, statements, analyzed: false, numbered: false };
  const first = await compiledSchema("auto", schema);
  assert(await compiledSchema("auto", { ...schema, statements: [...statements] }) === first);
  const [one, other] = [await gateOf(statements, 3), await gateOf(statements, 4)];
  assertEquals([one.inspect([DELETE]).schemaVersion, other.inspect([DELETE]).schemaVersion], [3, 4]);
  assertEquals(one.inspect([DELETE]).facts, other.inspect([DELETE]).facts);
});

Deno.test("databases with almost the same schema share nothing", async () => {
  const almost = [
    [PARENT, CHILD],
    [PARENT, PLAIN],
    [PARENT, CHILD, "CREATE INDEX i ON p(a)"],
    [PARENT.replace("TEXT", "INT"), CHILD],
    [CHILD, PARENT],
    [`${PARENT}; ${CHILD}`],
    [PARENT],
  ];
  const schemas = almost.map((statements) => ({ statements, analyzed: false, numbered: false }));
  const all = [{ statements: [PARENT, CHILD], analyzed: true, numbered: false }, ...schemas];
  const compiled = await Promise.all(all.map((schema) => compiledSchema("auto", schema)));
  assertEquals(new Set(compiled).size, all.length);
  assert(
    await compiledSchema("wasm", { statements: [PARENT, CHILD], analyzed: false, numbered: false }) !==
      compiled[1],
  );
  const gates = await Promise.all([[PARENT, CHILD], [PARENT, PLAIN], [PARENT]].map((one) => gateOf(one)));
  for (let round = 0; round < 2; round++) {
    assertEquals(gates.map((gate) => written(gate)), [["c", "p"], ["p"], ["p"]]);
  }
});

Deno.test("what a call learns without foreign keys, or behind a change of the schema, stays with it", async () => {
  const [first, second] = [await gateOf([PARENT, CHILD]), await gateOf([PARENT, CHILD])];
  for (let round = 0; round < 2; round++) {
    assertEquals([written(first, true), written(second)], [["p"], ["c", "p"]]);
    assertEquals([written(second, true), written(first)], [["p"], ["c", "p"]]);
    const changed = first.inspect([
      { sql: "DROP TABLE c", changesSchema: true },
      { sql: "CREATE TABLE d (p REFERENCES p ON DELETE CASCADE)", changesSchema: true },
      DELETE,
    ]);
    assertEquals(changed.facts[2]?.tablesWritten, ["d", "p"]);
    assertEquals([written(second), written(first)], [["c", "p"], ["c", "p"]]);
  }
});

Deno.test("what is known of texts in many schemas is bounded in characters, the newest kept", async () => {
  const before = knownCharacters();
  const schemas = 8;
  const gates = await Promise.all(
    Array.from({ length: schemas }, (_, at) => gateOf([`CREATE TABLE t${at} (id INTEGER PRIMARY KEY)`])),
  );
  // 6,000,000 characters for each schema, in texts that are not long: more than all may keep.
  const texts = (table: number) =>
    Array.from({ length: 750 }, (_, at) => `SELECT id FROM t${table} /* ${at} ${"x".repeat(8000)} */`);
  for (const [table, gate] of gates.entries()) {
    for (const sql of texts(table)) gate.inspect([{ sql, changesSchema: false }]);
  }
  assert(before < 1_000_000, `${before} characters were known before`);
  assert(knownCharacters() > 25_000_000 && knownCharacters() <= 32_000_000, `${knownCharacters()}`);
  const kept = knownCharacters();
  const [newest = ""] = texts(schemas - 1).slice(-1);
  gates[schemas - 1]?.inspect([{ sql: newest, changesSchema: false }]);
  assertEquals(knownCharacters(), kept);
});

Deno.test("however many schemas of however many tables tenants have, the control plane has its memory", async () => {
  const kv = await Deno.openKv(":memory:");
  const gates: GateCompiler[] = [];
  for (let schema = 0; schema < 20; schema++) {
    const statements = Array.from({ length: 1800 }, (_, at) => `CREATE TABLE t${schema}_${at} (a,b)`);
    const gate = await gateOf(statements);
    gates.push(gate);
    const read = [{ sql: `SELECT a FROM t${schema}_1799`, changesSchema: false }];
    assertEquals(gate.inspect(read).failure, null);
    assert(charactersMade() <= 800_000, String(charactersMade()));
    await kv.set(["written", schema], "x".repeat(60_000));
  }
  // What was closed for others is made again.
  const again = gates[0]?.inspect([{ sql: "SELECT b FROM t0_1", changesSchema: false }]);
  assertEquals(again?.facts[0]?.tablesRead, ["t0_1"]);
  kv.close();
});

Deno.test("a schema whose making breaks off leaves no engine open", async () => {
  const open = await gateEngine("auto", [PARENT]);
  let opened = 0;
  const breaking = () => {
    const connection = open();
    const close = connection.close.bind(connection);
    opened++;
    connection.close = () => {
      opened--;
      close();
    };
    connection.exec = () => {
      throw new TypeError("cut off");
    };
    return connection;
  };
  const schema = { statements: [PARENT], analyzed: false, numbered: false };
  const compiled = new CompiledSchema(breaking, schema);
  const before = charactersMade();
  assertThrows(() => compiled.connection, /cut off/);
  assertEquals([opened, charactersMade()], [0, before]);
});
