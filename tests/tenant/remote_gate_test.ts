// The gate before a remote engine: what goes over the wire, in how many requests, and whose counts are whose.
import { assert, assertEquals } from "@std/assert";
import type { Level } from "../../lib/engine/guard.ts";
import { readSyntax, type SyntaxResult } from "../../lib/sql/grammar/syntax.ts";
import { locationOf } from "../../lib/tenant/remote/locations/locations.ts";
import type { TenantDatabase, TenantOutcome } from "../../lib/tenant/tenant_store.ts";
import { Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { type Asked, asksWhetherItAnswers, standBetween, withSqld } from "./sqld_world.ts";

Deno.test("nothing that reaches for files, pages or the server's own functions is ever sent", async () => {
  await withSqld(async (world) => {
    const sent: string[] = [];
    const store = world.store({
      fetch: standBetween(({ sql }, go) => {
        sent.push(sql);
        return go();
      }),
    });
    const tenant = await Tenant.create(store, ["CREATE TABLE t (a)"]);
    const refused = [
      "SELECT readfile('/etc/passwd')",
      "SELECT writefile('/tmp/x', 'y')",
      "SELECT * FROM fsdir('/')",
      "SELECT * FROM dbstat",
      "SELECT * FROM sqlite_dbpage",
      "SELECT libsql_vector_idx(a) FROM t",
      "SELECT load_extension('x')",
      "SELECT edit('x')",
      "ATTACH 'other' AS o",
      "VACUUM INTO '/tmp/x'",
      "PRAGMA journal_mode=DELETE",
      "PRAGMA writable_schema=1",
      "CREATE TABLE u (a CHECK (readfile(a)))",
      "CREATE VIEW w AS SELECT readfile('/etc/passwd')",
      "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT writefile('/tmp/x', 'y'); END",
      "CREATE VIRTUAL TABLE p USING dbstat",
      "ALTER TABLE t ALTER COLUMN a TO a INTEGER",
      "SELECT 1; DROP TABLE t",
      "/* */ EXPLAIN PRAGMA rekey",
    ];
    // What a role above that of the call may do, and what no server would refuse.
    for (const level of ["read", "write"] as const) {
      for (
        const [sql, kind] of [["PRAGMA user_version = 5", "denied"], [
          "SELECT ?",
          "parameter_mismatch",
        ]] as const
      ) {
        sent.length = 0;
        const outcome = await tenant.run(level, [[sql]]);
        assertEquals(outcome.ok === false && outcome.failure.kind, kind, `${level}: ${sql}`);
        assertEquals(sent.filter((text) => text.includes(sql)), []);
      }
    }
    for (const sql of refused) {
      sent.length = 0;
      for (const level of ["read", "write", "schema"] as const) {
        const outcome = await tenant.run(level, [[sql]]);
        assertEquals(outcome.ok, false, `${level}: ${sql}`);
      }
      const { facts, failure } = await tenant.database.inspect([{ sql, changesSchema: false }]);
      assert(facts.length === 0 || failure === null);
      const words = sql.match(
        /readfile|writefile|fsdir|dbstat|dbpage|libsql_|ATTACH|VACUUM|rekey|DROP|ALTER/,
      );
      for (const text of sent) {
        const own = text.replaceAll("libsql!_", "").replaceAll("_service_meta", "");
        assert(words === null || !own.includes(words[0]), sql);
      }
    }
  });
});

Deno.test("a gated read is one request, a write two, whatever they say", async () => {
  await withSqld(async (world) => {
    const asked: Asked[] = [];
    const store = world.store({
      fetch: standBetween((request, go) => {
        asked.push(request);
        return go();
      }),
    });
    const tenant = await Tenant.create(store, ["CREATE TABLE t (a)"]);
    await tenant.rows("SELECT 1");
    // Its log row is written now, and not by a request at a time of its own.
    await tenant.rows("SELECT count(*) FROM _service_meta_query_log", [], { readsLog: true, log: null });
    // The store asks its catalogue, by itself, what it has to remove.
    const requests = () =>
      asked.splice(0).filter((one) => one.location === locationOf(tenant.id) && !asksWhetherItAnswers(one))
        .length;
    requests();
    for (let n = 0; n < 5; n++) {
      await tenant.run("read", [["SELECT count(*) FROM t WHERE a > ?", n]], { log: null });
    }
    assertEquals(requests(), 5);
    for (let n = 0; n < 5; n++) await tenant.run("write", [["INSERT INTO t VALUES (?)", n]]);
    assertEquals(requests(), 10);
  });
});

Deno.test("fifty calls at once get their own counts of rows", async () => {
  await withSqld(async (world) => {
    const store = world.store();
    const tenant = await Tenant.create(store, ["CREATE TABLE t (id INTEGER PRIMARY KEY, a)"]);
    const fill =
      "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT i, i FROM n";
    await tenant.run("write", [[fill]]);
    const outcomes = await Promise.all(
      Array.from(
        { length: 50 },
        (_, at) =>
          at % 2 === 0
            ? tenant.run("read", [["SELECT count(a) FROM t WHERE id <= ?", at]])
            : tenant.run("write", [["UPDATE t SET a = 0 WHERE id <= ? RETURNING id", at]]),
      ),
    );
    for (const [at, outcome] of outcomes.entries()) {
      assert(outcome.ok === true, JSON.stringify(outcome));
      const [result] = outcome.results;
      assertEquals(outcome.rowsReadBasis, "engine");
      assert(result !== undefined);
      assertEquals(result.rowsWritten, at % 2 === 0 ? 0 : at, `call ${at}`);
      // The engine counts what an UPDATE reads and writes more than once.
      if (at % 2 === 0) assertEquals(result.rowsRead, at + 1, `call ${at}`);
    }
  });
});

Deno.test("a schema that another process has changed is noticed by the statement itself, and by what does not compile", async () => {
  await withSqld(async (world) => {
    const [one, two] = [world.store(), world.store()];
    const tenant = await Tenant.create(one, ["CREATE TABLE t (a)"]);
    const elsewhere = two.open({ databaseId: tenant.id, namespaceId: "ns_1" });
    const { schemaVersion } = await elsewhere.inspect([]);
    await tenant.run("schema", [["DROP TABLE t"]]);
    await tenant.run("schema", [["CREATE TABLE u (b)"]]);
    const stale = await elsewhere.run(tenantCall(schemaVersion, "read", [["SELECT * FROM t"]]));
    assertEquals(stale.ok, "stale");
    const known = await elsewhere.inspect([{ sql: "SELECT b FROM u", changesSchema: false }]);
    assertEquals([known.failure, known.facts[0]?.tablesRead], [null, ["u"]]);
    await tenant.run("schema", [["CREATE TABLE v (c)"]]);
    const later = await elsewhere.inspect([{ sql: "SELECT c FROM v", changesSchema: false }]);
    assertEquals(later.failure, null);
  });
});

Deno.test("a read that ran under a schema which another process has just made is not answered, alone or beside others", async () => {
  await withSqld(async (world) => {
    const [one, two] = [world.store(), world.store()];
    for (const texts of [["SELECT * FROM t"], ["SELECT * FROM t", "SELECT 1"]]) {
      const tenant = await Tenant.create(one, ["CREATE TABLE t (a)"]);
      const elsewhere = two.open({ databaseId: tenant.id, namespaceId: "ns_1" });
      const { schemaVersion } = await elsewhere.inspect([]);
      await tenant.run("schema", [["DROP TABLE t"]]);
      await tenant.run("schema", [["CREATE TABLE t (secret)"]]);
      const before = await elsewhere.run(tenantCall(schemaVersion, "read", texts.map((sql) => [sql])));
      assertEquals(before.ok, "stale");
      const { schemaVersion: known } = await elsewhere.inspect([]);
      const after = await elsewhere.run(tenantCall(known, "read", texts.map((sql) => [sql])));
      assertEquals([known > schemaVersion, after.ok], [true, true]);
    }
  });
});

Deno.test("a text that somebody has read already is not read again on its way to the server", async () => {
  await withSqld(async (world) => {
    // A table of its own name: what a gate has decided holds for all databases of a schema, those of other tests too.
    const known = new Map<string, SyntaxResult>();
    const syntax = (sql: string) => known.get(sql) ?? readSyntax(sql);
    const tenant = await Tenant.create(world.store({ syntax }), ["CREATE TABLE read_ahead (a)"]);
    const texts = [
      ["read", "SELECT count(*) FROM read_ahead"],
      ["write", "INSERT INTO read_ahead VALUES (1)"],
      ["schema", "CREATE INDEX i ON read_ahead (a)"],
    ] as const;
    // So it shows what the gate goes by.
    const said = { ok: false, reason: "syntax_error", message: "as it was read" } as const;
    for (const [level, sql] of texts) {
      const inside = `${sql} -- inside`;
      known.set(sql, said).set(inside, said);
      for (const outcome of [await tenant.run(level, [[sql]]), await ranInside(tenant, level, inside)]) {
        assertEquals(outcome.ok === false && outcome.failure.message, said.message, sql);
      }
      assertEquals((await tenant.run(level, [[`${sql} -- unread`]])).ok, true);
    }
  });
});

/** What it says inside of a transaction that is then given up. */
async function ranInside(tenant: Tenant, level: Level, sql: string): Promise<TenantOutcome> {
  const transaction = tenant.database.begin({ mode: "immediate", tokenId: "tok_1" });
  try {
    const { schemaVersion } = await transaction.inspect([]);
    return await transaction.run(tenantCall(schemaVersion, level, [[sql]]));
  } finally {
    await transaction.rollback();
  }
}

Deno.test("what takes long to compile comes by namespace: one of many databases waits for one of few", async () => {
  await withSqld(async (world) => {
    const columns = Array.from({ length: 900 }, (_, at) => `c${at}`);
    const slow = (at: number) => `${Array(30).fill("SELECT * FROM w").join(" UNION ")} LIMIT ${at}`;
    const store = world.store();
    const mine: TenantDatabase[] = [];
    for (let at = 0; at < 4; at++) {
      mine.push((await Tenant.create(store, [`CREATE TABLE w (${columns})`])).database);
    }
    const { id } = await Tenant.create(store, [`CREATE TABLE w (${columns})`]);
    const other = store.open({ databaseId: id, namespaceId: "ns_2" });
    const quick = [{ sql: "SELECT 1", changesSchema: false }];
    // Every schema is known, so that nothing but the thread is waited for.
    for (const database of [...mine, other]) await database.inspect(quick);
    const answered: string[] = [];
    await Promise.all([...mine, other].map(async (database, at) => {
      await database.inspect([{ sql: slow(at), changesSchema: false }]);
      answered.push(database === other ? "other" : "mine");
    }));
    assertEquals(answered, ["mine", "other", "mine", "mine", "mine"]);
  });
});
