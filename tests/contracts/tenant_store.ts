// What every tenant store must do: run by each implementation, unchanged. A store that differs says so in routes/docs/stores.md.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { idFloor, newId } from "../../lib/core/ids.ts";
import { DIGIT_ROWS, PLAIN_ROWS } from "../../lib/sql/words/row_form.ts";
import { readSyntax } from "../../lib/sql/grammar/syntax.ts";
import type { SqlParameter } from "../../lib/sql/words/sql_value.ts";
import type { BranchMerge } from "../../lib/tenant/branch_store.ts";
import type { Level } from "../../lib/engine/guard.ts";
import type {
  LogIdentity,
  TenantCall,
  TenantDatabase,
  TenantOutcome,
  TenantStore,
} from "../../lib/tenant/tenant_store.ts";

export interface StoreFixture {
  readonly store: TenantStore;
  readonly close: () => Promise<void>;
}

/** A call with everything a test does not care about filled in. */
export function tenantCall(
  schemaVersion: number,
  level: Level,
  statements: readonly (readonly [string, ...SqlParameter[]])[],
  more: Partial<TenantCall> = {},
): TenantCall {
  const ts = systemClock.now();
  return {
    level,
    statements: statements.map(([sql, ...params]) => ({ sql, params, level })),
    atomic: true,
    schemaVersion,
    bounds: { rows: 1000, bytes: 1_000_000 },
    rowForm: PLAIN_ROWS,
    foreignKeysOff: false,
    readsLog: false,
    log: {
      id: newId("qry", ts),
      ts,
      namespaceId: "ns_1",
      databaseId: "db_1",
      tokenId: "tok_1",
      userId: null,
      operation: "query",
      statementCount: statements.length,
      sql: "…",
    },
    failsWith: null,
    replay: null,
    dryRun: false,
    affected: null,
    timeoutMs: null,
    snapshot: null,
    auditTables: level === "read" ? null : ["t"],
    signal: () => null,
    ...more,
  };
}

/** One database of a store, with the schema version looked up for each call. */
export class Tenant {
  private constructor(readonly id: string, readonly database: TenantDatabase) {}

  static async create(store: TenantStore, schema: readonly string[] = []): Promise<Tenant> {
    const id = newId("db", systemClock.now());
    await store.create(id);
    const tenant = new Tenant(id, store.open({ databaseId: id, namespaceId: "ns_1" }));
    for (const sql of schema) assertEquals((await tenant.run("schema", [[sql]])).ok, true, sql);
    return tenant;
  }

  /** A database that is there already. */
  static at(store: TenantStore, id: string): Tenant {
    return new Tenant(id, store.open({ databaseId: id, namespaceId: "ns_1" }));
  }

  async run(
    level: Level,
    statements: readonly (readonly [string, ...SqlParameter[]])[],
    more: Partial<TenantCall> = {},
  ): Promise<TenantOutcome> {
    const { schemaVersion } = await this.database.inspect([]);
    return await this.database.run(tenantCall(schemaVersion, level, statements, more));
  }

  /** Rows of the last statement. */
  async rows(
    sql: string,
    params: readonly SqlParameter[] = [],
    more: Partial<TenantCall> = {},
  ): Promise<unknown[][]> {
    const outcome = await this.run("read", [[sql, ...params]], more);
    assert(outcome.ok === true, JSON.stringify(outcome));
    return rowsOf(outcome);
  }
}

/** A merge of rows with everything a test does not care about filled in. */
export function mergeOf(trunk: Tenant, branchId: string): BranchMerge<LogIdentity> {
  const ts = systemClock.now();
  const auditId = newId("evt", ts);
  return {
    ...{ branchId, mode: "data", onConflict: "abort", dryRun: false, expects: null },
    rowForm: PLAIN_ROWS,
    snapshot: `auto-${auditId}`,
    auditId,
    log: {
      ...{ id: newId("qry", ts), ts, namespaceId: "ns_1", databaseId: trunk.id, tokenId: "tok_1" },
      ...{ userId: null, operation: "merge", statementCount: 1, sql: "-- data" },
    },
  };
}

/** Of a call that began then. */
function identityAt(ts: number): LogIdentity {
  const call = { namespaceId: "ns_1", databaseId: "db_1", tokenId: "tok_1", userId: null };
  return { ...call, id: idFloor("qry", ts), ts, operation: "insert", statementCount: 1, sql: "…" };
}

export function rowsOf(outcome: TenantOutcome): unknown[][] {
  assert(outcome.ok === true);
  const { rows }: { rows: unknown[][] } = JSON.parse(`${outcome.results.at(-1)?.json}}`);
  return rows;
}

function failureKind(outcome: TenantOutcome): string {
  return outcome.ok === false ? outcome.failure.kind : String(outcome.ok);
}

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE, n INTEGER CHECK (n >= 0))";

export function tenantStoreContract(name: string, open: () => Promise<StoreFixture>): void {
  const promises: { readonly name: string; readonly body: (store: TenantStore) => Promise<void> }[] = [];
  const promise = (text: string, body: (store: TenantStore) => Promise<void>) =>
    void promises.push({ name: `${name}: ${text}`, body });

  // One store for all of them: each has databases of its own, and servers and children take long to start.
  Deno.test(`${name}: the contract of tenant stores`, async (t) => {
    const fixture = await open();
    try {
      for (const { name, body } of promises) {
        // The store goes on reading from its engine between the steps; the sanitizers look at the test as a whole.
        await t.step({
          name,
          fn: () => body(fixture.store),
          sanitizeOps: false,
          sanitizeResources: false,
        });
      }
    } finally {
      await fixture.close();
    }
  });

  promise("what is written can be read, and values of every type come back", async (store) => {
    const tenant = await Tenant.create(store, ["CREATE TABLE v (i INTEGER, r REAL, s TEXT, b BLOB, z ANY)"]);
    const written = await tenant.run("write", [["INSERT INTO v VALUES (?,?,?,?,?)", 7, 1.5, "häß ☃", {
      $blob: "AP8=",
    }, null]]);
    assert(written.ok === true);
    assertEquals(written.results[0]?.rowsWritten, 1);
    assertEquals(await tenant.rows("SELECT *, typeof(i), typeof(r) FROM v"), [[
      7,
      1.5,
      "häß ☃",
      { $blob: "AP8=" },
      null,
      "integer",
      "real",
    ]]);
  });

  promise(
    "integers beyond 2^53 come back as digits, also beside small ones, and infinities as words",
    async (store) => {
      const tenant = await Tenant.create(store, [T]);
      assertEquals(
        await tenant.rows("SELECT 9007199254740993, -9223372036854775808, 9007199254740991, 1e999, -1e999"),
        [
          ["9007199254740993", "-9223372036854775808", 9007199254740991, "Infinity", "-Infinity"],
        ],
      );
      assertEquals(await tenant.rows("SELECT 1, 2.5", [], { rowForm: DIGIT_ROWS }), [[
        "1",
        2.5,
      ]]);
      await tenant.run("write", [["INSERT INTO t (id, n) VALUES (?, ?)", "9007199254740993", 1]]);
      const returned = await tenant.run("write", [["UPDATE t SET n = n + 1 RETURNING id, n"]]);
      assertEquals(rowsOf(returned), [["9007199254740993", 2]]);
      assertEquals(await tenant.rows("SELECT n FROM t"), [[2]]);
    },
  );

  promise("databases do not see each other", async (store) => {
    const one = await Tenant.create(store, [T]);
    const two = await Tenant.create(store);
    assertEquals(failureKind(await two.run("read", [["SELECT * FROM t"]])), "unknown_table");
    await one.run("write", [["INSERT INTO t (a) VALUES ('x')"]]);
    assertEquals(await one.rows("SELECT count(*) FROM t"), [[1]]);
  });

  promise("an atomic call that fails leaves nothing, another one keeps what ran before", async (store) => {
    const tenant = await Tenant.create(store, [T]);
    const statements = [["INSERT INTO t (a) VALUES ('x')"], ["INSERT INTO t (a) VALUES ('x')"], [
      "INSERT INTO t (a) VALUES ('y')",
    ]] as const;
    const atomic = await tenant.run("write", statements);
    assert(atomic.ok === false);
    assertEquals([
      atomic.failedIndex,
      atomic.failure.kind,
      atomic.failure.table,
      atomic.failure.columns,
      atomic.results,
    ], [1, "unique_violation", "t", ["a"], []]);
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[0]]);
    const loose = await tenant.run("write", statements, { atomic: false });
    assert(loose.ok === false);
    assertEquals([loose.failedIndex, loose.results.length], [1, 1]);
    assertEquals(await tenant.rows("SELECT a FROM t"), [["x"]]);
  });

  promise("the kinds of constraint failures are told apart", async (store) => {
    const tenant = await Tenant.create(store, [
      "CREATE TABLE p (id INTEGER PRIMARY KEY)",
      "CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER NOT NULL REFERENCES p(id), n INTEGER CHECK (n > 0)) STRICT",
    ]);
    const kind = async (sql: string) => failureKind(await tenant.run("write", [[sql]]));
    assertEquals(await kind("INSERT INTO c (p) VALUES (1)"), "foreign_key_violation");
    assertEquals(await kind("INSERT INTO c (id) VALUES (1)"), "not_null_violation");
    await tenant.run("write", [["INSERT INTO p VALUES (1)"]]);
    assertEquals(await kind("INSERT INTO c (p, n) VALUES (1, 0)"), "check_violation");
    assertEquals(await kind("INSERT INTO c (p, n) VALUES (1, 'many')"), "type_mismatch");
    assertEquals(await kind("INSERT INTO c (id, p) VALUES (1, 1), (1, 1)"), "unique_violation");
    assertEquals(await kind("INSERT INTO nope VALUES (1)"), "unknown_table");
    assertEquals(await kind("UPDATE c SET nope = 1"), "unknown_column");
    assertEquals(await tenant.rows("SELECT count(*) FROM c"), [[0]]);
  });

  promise("a level allows nothing above it, whatever the facts said", async (store) => {
    const tenant = await Tenant.create(store, [T]);
    for (
      const sql of ["INSERT INTO t (a) VALUES ('x')", "CREATE TABLE u (a)", "DROP TABLE t", "DELETE FROM t"]
    ) {
      const kind = failureKind(await tenant.run("read", [[sql]]));
      assert(kind === "denied" || kind === "readonly", `${sql}: ${kind}`);
    }
    for (
      const sql of [
        "CREATE TABLE u (a)",
        "DROP TABLE t",
        "CREATE INDEX i ON t (n)",
        "INSERT INTO _service_meta_audit VALUES (1,2,3,4,5,6,7,8)",
      ]
    ) {
      assertEquals(failureKind(await tenant.run("write", [[sql]])), "denied", sql);
    }
    assertEquals(failureKind(await tenant.run("schema", [["DROP TABLE _service_meta_query_log"]])), "denied");
    assertEquals(failureKind(await tenant.run("read", [["SELECT * FROM _service_meta_replay"]])), "denied");
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[0]]);
  });

  promise("facts that are out of date are reported before anything runs", async (store) => {
    const tenant = await Tenant.create(store, [T]);
    const { schemaVersion } = await tenant.database.inspect([]);
    await tenant.run("schema", [["ALTER TABLE t ADD COLUMN extra"]]);
    for (const level of ["read", "write"] as const) {
      const sql = level === "read" ? "SELECT * FROM t" : "INSERT INTO t (a) VALUES ('x')";
      assertEquals((await tenant.database.run(tenantCall(schemaVersion, level, [[sql]]))).ok, "stale");
      const transaction = tenant.database.begin({ mode: "deferred", tokenId: "tok_1" });
      assertEquals((await transaction.run(tenantCall(schemaVersion, level, [[sql]]))).ok, "stale");
      await transaction.commit();
    }
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[0]]);
  });

  promise(
    "inspecting tells tables through views and triggers, and sees changes made earlier in the call",
    async (store) => {
      const tenant = await Tenant.create(store, [
        T,
        "CREATE TABLE l (x)",
        "CREATE VIEW w AS SELECT a FROM t",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO l VALUES (new.a); END",
      ]);
      const { facts, failure } = await tenant.database.inspect([
        { sql: "SELECT a FROM w", changesSchema: false },
        { sql: "INSERT INTO t (a) VALUES (?)", changesSchema: false },
        { sql: "CREATE TABLE later (id INTEGER PRIMARY KEY)", changesSchema: true },
        { sql: "INSERT INTO later VALUES (1)", changesSchema: false },
      ]);
      assertEquals(failure, null);
      assertEquals(facts.map((one) => [one.tablesRead, one.tablesWritten]), [
        [["t", "w"], []],
        [["t"], ["l", "t"]],
        [[], ["later"]],
        [[], ["later"]],
      ]);
      assertEquals(failureKind(await tenant.run("read", [["SELECT * FROM later"]])), "unknown_table");
    },
  );

  promise(
    "50 writers at once all get through, each once, with one log and one audit row each",
    async (store) => {
      const tenant = await Tenant.create(store, [T]);
      const outcomes = await Promise.all(
        Array.from(
          { length: 50 },
          (_, n) => tenant.run("write", [["INSERT INTO t (a, n) VALUES (?, ?)", `a${n % 40}`, n]]),
        ),
      );
      assertEquals(
        outcomes.filter((outcome) => outcome.ok === true).length,
        40,
      );
      assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[40]]);
      const log = await tenant.rows(
        "SELECT status, count(*) FROM _service_meta_query_log WHERE rows_written > 0 OR status = 'error' GROUP BY status ORDER BY 1",
        [],
        { readsLog: true },
      );
      assertEquals(log, [["error", 10], ["ok", 40]]);
      assertEquals(await tenant.rows("SELECT count(*) FROM _service_meta_audit WHERE rows_written = 1"), [[
        40,
      ]]);
    },
  );

  promise("a statement that rolls its transaction back undoes only its own call", async (store) => {
    const tenant = await Tenant.create(store, [T]);
    await tenant.run("write", [["INSERT INTO t (a) VALUES ('x')"]]);
    const outcomes = await Promise.all([
      ...Array.from(
        { length: 5 },
        (_, n) => tenant.run("write", [["INSERT INTO t (a) VALUES (?)", `b${n}`]]),
      ),
      tenant.run("write", [["INSERT OR ROLLBACK INTO t (a) VALUES ('x')"]]),
      ...Array.from(
        { length: 5 },
        (_, n) => tenant.run("write", [["INSERT INTO t (a) VALUES (?)", `c${n}`]]),
      ),
    ]);
    assertEquals(outcomes.map((outcome) => outcome.ok), [
      ...Array(5).fill(true),
      false,
      ...Array(5).fill(true),
    ]);
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[11]]);
    assertEquals(await tenant.rows("SELECT count(*) FROM _service_meta_audit WHERE rows_written = 1"), [[
      11,
    ]]);
  });

  promise("deferred constraints are judged for each call alone", async (store) => {
    const tenant = await Tenant.create(store, [
      "CREATE TABLE p (id INTEGER PRIMARY KEY)",
      "CREATE TABLE c (p INTEGER REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)",
    ]);
    const outcomes = await Promise.all([
      tenant.run("write", [["INSERT INTO c VALUES (1)"]]),
      tenant.run("write", [["INSERT INTO p VALUES (2)"]]),
      tenant.run("write", [["INSERT INTO c VALUES (3)"], ["INSERT INTO p VALUES (3)"]]),
    ]);
    assertEquals(outcomes.map(failureKind), ["foreign_key_violation", "true", "true"]);
    assertEquals(await tenant.rows("SELECT p FROM c"), [[3]]);
  });

  promise("log rows that wait are written whichever call beside them is refused", async (store) => {
    const tenant = await Tenant.create(store, [
      "CREATE TABLE p (id INTEGER PRIMARY KEY)",
      "CREATE TABLE c (p INTEGER REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)",
    ]);
    const { schemaVersion } = await tenant.database.inspect([]);
    const { log } = tenantCall(schemaVersion, "read", [["SELECT 1"]]);
    assert(log !== null);
    const figures = { status: "ok", errorKind: null, rowsRead: 1, rowsWritten: 0, durationMs: 1 } as const;
    tenant.database.record({ ...log, ...figures });
    // At once, so that they travel together.
    const outcomes = await Promise.all(
      ["INSERT INTO c VALUES (1)", "INSERT INTO p VALUES (2)"].map((sql) =>
        tenant.database.run(tenantCall(schemaVersion, "write", [[sql]]))
      ),
    );
    assertEquals(outcomes.map(failureKind), ["foreign_key_violation", "true"]);
    const logged = "SELECT count(*) FROM _service_meta_query_log WHERE id = ?";
    assertEquals(await tenant.rows(logged, [log.id], { readsLog: true }), [[1]]);
  });

  promise("foreign keys can be off for one call and are on for the next", async (store) => {
    const tenant = await Tenant.create(store, [
      "CREATE TABLE p (id INTEGER PRIMARY KEY)",
      "CREATE TABLE c (p INTEGER REFERENCES p(id))",
    ]);
    const off = await tenant.run("schema", [["PRAGMA foreign_keys=OFF"], ["INSERT INTO c VALUES (9)"]], {
      foreignKeysOff: true,
    });
    assertEquals(failureKind(off), "true");
    assertEquals(
      failureKind(await tenant.run("write", [["INSERT INTO c VALUES (9)"]])),
      "foreign_key_violation",
    );
  });

  promise(
    "a statement takes values of a row that an earlier one has returned, or all is undone",
    async (store) => {
      const tenant = await Tenant.create(store, [T, "CREATE TABLE u (t INTEGER, r REAL)"]);
      const texts = (second: string) =>
        [
          {
            sql: "INSERT INTO t (a, n) VALUES (?, 3) RETURNING id + 9007199254740992 AS big, n + 0.0 AS R",
            params: ["x"],
          },
          {
            sql: second,
            params: [null, 7, null],
            takes: [{ parameter: 0, column: "big" }, { parameter: 2, column: "r" }],
          },
        ].map((one) => ({ ...one, level: "write" as const }));
      const insert = "INSERT INTO u SELECT ?, ?3 + 0 * ?2 RETURNING t, r, typeof(t), typeof(?3)";
      const dry = await tenant.run("write", [], { statements: texts(insert), dryRun: true, replay: null });
      assert(dry.ok === true, JSON.stringify(dry));
      assertEquals(dry.results.map(({ effect }) => effect?.ownRows), [1, 1]);
      assertEquals(await tenant.rows("SELECT (SELECT count(*) FROM t) + (SELECT count(*) FROM u)"), [[0]]);
      const kept = await tenant.run("write", [], { statements: texts(insert) });
      assertEquals(rowsOf(kept), [["9007199254740993", 3, "integer", "real"]]);
      const slow = "INSERT INTO u WITH RECURSIVE c(x) AS (SELECT ?2 UNION ALL SELECT x + 1 FROM c) " +
        "SELECT ?1, count(*) + ?3 FROM c";
      const [insertOne, slowOne] = texts(slow);
      assert(insertOne && slowOne);
      const other = [{ ...insertOne, params: ["y"] }, slowOne];
      const stopped = await tenant.run("write", [], { statements: other, timeoutMs: 300 });
      assertEquals(failureKind(stopped), "timeout");
      const nothing = [{
        sql: "UPDATE t SET n = 4 WHERE a = 'z' RETURNING id",
        params: [],
        level: "write" as const,
      }, {
        ...{ sql: "INSERT INTO u VALUES (?, 1)", params: [null], level: "write" as const },
        takes: [{ parameter: 0, column: "id" }],
      }];
      for (const more of [{}, { dryRun: true, log: null }]) {
        const missing = await tenant.run("write", [], {
          statements: [insertOne, ...nothing],
          ...more,
          atomic: true,
        });
        const { ok } = missing;
        assertEquals([failureKind(missing), ok === false && missing.failedIndex], ["unique_violation", 0]);
        const gone = await tenant.run("write", [], { statements: nothing, ...more });
        assertEquals([failureKind(gone), gone.ok === false && gone.failedIndex], ["no_row", 1]);
      }
      assertEquals(await tenant.rows("SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM u)"), [[1, 1]]);
      const logged = "SELECT count(*) FROM _service_meta_query_log WHERE error_kind = 'no_row'";
      assertEquals(await tenant.rows(logged, [], { readsLog: true }), [[1]]);
    },
  );

  promise("results above the bounds fail and change nothing", async (store) => {
    const tenant = await Tenant.create(store, [T]);
    const many =
      "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000) SELECT i FROM c";
    assertEquals(failureKind(await tenant.run("read", [[many]])), "result_too_large");
    assertEquals(
      failureKind(await tenant.run("read", [["SELECT hex(zeroblob(600000))"]])),
      "result_too_large",
    );
    const insert =
      `INSERT INTO t (a) WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000) SELECT 'r' || i FROM c RETURNING id`;
    assertEquals(failureKind(await tenant.run("write", [[insert]])), "result_too_large");
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[0]]);
  });

  promise(
    "a statement past its deadline is stopped, and others of the same database go on",
    async (store) => {
      const tenant = await Tenant.create(store, [T]);
      const endless = tenant.run("read", [[
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c",
      ]]);
      const inserted = await tenant.run("write", [["INSERT INTO t (a) VALUES ('x')"]]);
      assertEquals(inserted.ok, true);
      assertEquals(failureKind(await endless), "timeout");
      const stuckWrite = tenant.run("write", [[
        "INSERT INTO t (n) WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c",
      ]]);
      const queued = Array.from(
        { length: 5 },
        (_, n) => tenant.run("write", [["INSERT INTO t (a) VALUES (?)", `q${n}`]]),
      );
      assertEquals(failureKind(await stuckWrite), "timeout");
      assertEquals(
        (await Promise.all(queued)).map((outcome) => outcome.ok),
        Array(5).fill(true),
      );
      assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[6]]);
      assertEquals(
        await tenant.rows("SELECT count(*) FROM _service_meta_query_log WHERE error_kind = 'timeout'", [], {
          readsLog: true,
        }),
        [[2]],
      );
    },
  );

  promise("a caller who has gone stops the statement", async (store) => {
    const tenant = await Tenant.create(store, [T]);
    const gone = new AbortController();
    const endless = tenant.run("write", [[
      "INSERT INTO t (n) WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c",
    ]], {
      signal: () => gone.signal,
    });
    const rejected = assertRejects(() => endless);
    await pause(100);
    gone.abort();
    await rejected;
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[0]]);
  });

  promise("schema() lists tables, views and columns of the tenant only", async (store) => {
    const tenant = await Tenant.create(store, [
      T,
      "CREATE VIEW w AS SELECT a FROM t",
      "CREATE VIRTUAL TABLE f USING fts5(body)",
    ]);
    const { tables } = await tenant.database.schema();
    assertEquals(tables.filter((table) => table.kind !== "shadow"), [
      { name: "f", kind: "virtual", columns: ["body"], rowid: null, references: [] },
      { name: "t", kind: "table", columns: ["id", "a", "n"], rowid: "id", references: [] },
      { name: "w", kind: "view", columns: ["a"], rowid: null, references: [] },
    ]);
  });

  promise(
    "a branch is compared with what it began as, merged into what the trunk has become, and dropped",
    async (store) => {
      const trunk = await Tenant.create(store, [T, "CREATE VIEW w AS SELECT a FROM t"]);
      await trunk.run("write", [[
        "INSERT INTO t (id, a, n) VALUES (1, 'one', 1), (2, 'two', 2), (3, 'three', 3)",
      ]]);
      const handle = { databaseId: newId("db", systemClock.now()), namespaceId: "ns_1" };
      await store.branches.make(handle, trunk.id);
      assertEquals((await store.branches.diff(handle)).diff.tables, []);
      const branch = store.open({ databaseId: handle.databaseId, namespaceId: "ns_1" });
      const { schemaVersion } = await branch.inspect([]);
      const written = await branch.run(tenantCall(schemaVersion, "write", [
        ["UPDATE t SET n = ? WHERE id = 1", 0.1],
        ["DELETE FROM t WHERE id = 2"],
        ["INSERT INTO t (id, a, n) VALUES (4, 'four', 4)"],
      ]));
      assertEquals(written.ok, true);
      await trunk.run("write", [["UPDATE t SET a = 'ONE' WHERE id = 1"], [
        "UPDATE t SET n = 9 WHERE id = 2",
      ]]);
      const [table] = (await store.branches.diff(handle)).diff.tables;
      assertEquals([table?.added, table?.removed, table?.changed], [1, 1, 1]);
      const merge = (onConflict: "abort" | "theirs") =>
        store.branches.merge({ databaseId: trunk.id, namespaceId: "ns_1" }, {
          ...mergeOf(trunk, handle.databaseId),
          onConflict,
        });
      const stopped = await merge("abort");
      assertEquals([stopped.outcome, stopped.report.conflicts.count, stopped.snapshotTaken], [
        "conflict",
        1,
        false,
      ]);
      assertEquals(await trunk.database.snapshots(), []);
      const merged = await merge("theirs");
      assertEquals([merged.outcome, merged.report.rowsWritten, merged.snapshotTaken], ["merged", 3, true]);
      assertEquals(await trunk.rows("SELECT id, a, n FROM t ORDER BY id"), [
        [1, "ONE", 0.1],
        [3, "three", 3],
        [4, "four", 4],
      ]);
      assertEquals((await trunk.database.snapshots()).length, 1);
      const audit = "SELECT rows_written, tables FROM _service_meta_audit WHERE operation = 'merge'";
      assertEquals(await trunk.rows(audit), [[3, '["t"]']]);
      await store.drop(handle.databaseId);
      await assertRejects(() => store.branches.diff(handle));
      assertEquals(await trunk.rows("SELECT count(*) FROM t"), [[3]]);
    },
  );

  promise(
    "a CREATE TABLE AS of an endless SELECT in a batch is understood without being run",
    async (store) => {
      const tenant = await Tenant.create(store);
      const endless = 'CREATE TABLE IF NOT EXISTS "e"/* as */as--select\n' +
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i FROM n";
      const read = readSyntax(endless);
      assert(read.ok);
      const { facts, failure } = await tenant.database.inspect([
        { sql: endless, changesSchema: true, tableAs: read.syntax.tableAs },
        { sql: 'INSERT INTO e (i, "i:1") VALUES (1, 2)', changesSchema: false },
      ]);
      assertEquals([failure, facts.map((one) => one.tablesWritten)], [null, [["e"], ["e"]]]);
      const outcome = await tenant.run("schema", [[endless], ["INSERT INTO e VALUES (1, 2)"]]);
      assert(outcome.ok === false);
      assertEquals([outcome.failure.kind, outcome.failedIndex], ["timeout", 0]);
      assertEquals((await tenant.run("read", [["SELECT * FROM e"]])).ok, false);
    },
  );

  promise(
    "a batch is understood by the schema alone: what fails only by its rows fails when it runs",
    async (store) => {
      const tenant = await Tenant.create(store, ["CREATE TABLE r (a, b AS (a * 2))"]);
      await tenant.run("write", [["INSERT INTO r VALUES ('same'), ('same')"]]);
      const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT max(i) AS m FROM n";
      const changes = [
        "CREATE UNIQUE INDEX u ON r (a || 'x')",
        "ALTER TABLE r ADD COLUMN c NOT NULL DEFAULT 1 CHECK (c > 1)",
        "REINDEX r",
        "ANALYZE r",
        `CREATE VIEW v AS ${endless}`,
        `CREATE TRIGGER g AFTER INSERT ON r BEGIN DELETE FROM r WHERE a IN (${endless}); END`,
        "CREATE VIRTUAL TABLE f USING fts5(a, content='v')",
      ];
      const { facts, failure } = await tenant.database.inspect([
        ...changes.map((sql) => ({ sql, changesSchema: true })),
        { sql: "INSERT INTO r SELECT m, m FROM v", changesSchema: false },
      ]);
      assertEquals([failure, facts.length], [null, changes.length + 1]);
      const outcome = await tenant.run("schema", changes.map((sql) => [sql]));
      assertEquals([failureKind(outcome), outcome.ok === false && outcome.failedIndex], [
        "unique_violation",
        0,
      ]);
    },
  );

  promise("a restore keeps log rows that come later than those of younger calls", async (store) => {
    const tenant = await Tenant.create(store, [T]);
    const insert = (id: number, ts: number) =>
      tenant.run("write", [["INSERT INTO t (id) VALUES (?)", id]], { log: identityAt(ts) });
    const nowMs = systemClock.now();
    await insert(1, nowMs);
    await tenant.database.takeSnapshot("one");
    await insert(2, nowMs - 60_000);
    await tenant.database.restore("one", { undoLabel: "undo" });
    assertEquals(await tenant.rows("SELECT id FROM t"), [[1]]);
    const log = "SELECT ts FROM _service_meta_query_log WHERE operation = 'insert' ORDER BY ts";
    assertEquals(await tenant.rows(log, [], { readsLog: true }), [[nowMs - 60_000], [nowMs]]);
  });

  promise("what is told of a new database is what is asked of it later", async (store) => {
    const id = newId("db", systemClock.now());
    const told = await store.create(id);
    const asked = await store.storageOf(id);
    assertEquals([asked.state, asked.sizeBytes > 0], ["ok", true]);
    assertEquals(told ?? asked, asked);
  });

  promise("a dropped database is gone, and another one is not touched", async (store) => {
    const one = await Tenant.create(store, [T]);
    const two = await Tenant.create(store, [T]);
    await store.drop(one.id);
    await assertRejects(() => one.run("read", [["SELECT 1"]]));
    assertEquals(await store.storageOf(one.id), { sizeBytes: 0, state: "corrupt" });
    assertEquals(await two.rows("SELECT count(*) FROM t"), [[0]]);
  });
}
