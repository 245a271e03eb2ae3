// Streams to sqld that are used again have a socket of their own: nothing is lost with one, nothing runs twice, and where
// there are none the calls go by HTTP.
import { assert, assertEquals } from "@std/assert";
import { rowsOf, Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { openSocketRelay, type SocketRelay } from "../testing/socket_relay.ts";
import { pause } from "../../lib/core/pause.ts";
import type { SqlParameter } from "../../lib/sql/words/sql_value.ts";
import type { TenantCall } from "../../lib/tenant/tenant_store.ts";
import { locationOf } from "../../lib/tenant/remote/locations/locations.ts";
import { ask, failureOf, type SqldWorld, withSqld } from "./sqld_world.ts";
import { ENDLESS } from "../testing/endless.ts";

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE)";
const COUNT = "SELECT count(*) FROM t";

async function withRelay(body: (world: SqldWorld, relay: SocketRelay, tenant: Tenant) => Promise<void>) {
  await withSqld(async (world) => {
    await using relay = openSocketRelay(world.sqld.url);
    const store = world.store({ url: relay.url });
    await body(world, relay, await Tenant.create(store, [T]));
    await store.close();
    await relay.ended;
  });
}

/** Writes three rows and reads, after which either goes over a socket. */
async function warm(tenant: Tenant, name: string): Promise<void> {
  for (let n = 0; n < 3; n++) {
    assertEquals((await tenant.run("write", [["INSERT INTO t (a) VALUES (?)", `${name} ${n}`]])).ok, true);
    await tenant.rows(COUNT);
  }
}

Deno.test("what is used again goes over few sockets, with every kind of value and all counts", async () => {
  await withRelay(async (_world, relay, tenant) => {
    await warm(tenant, "warm");
    assert(relay.open >= 2, `${relay.open} sockets are open`);
    const before = relay.asked;
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 20 }, async (_, n) => {
        const outcome = await tenant.run("write", [["INSERT INTO t (a) VALUES (?)", `${round} ${n}`]]);
        assert(outcome.ok === true && outcome.results[0]?.rowsWritten === 1);
        const read = await tenant.run("read", [["SELECT a FROM t WHERE a = ?", `${round} ${n}`]]);
        assertEquals(rowsOf(read), [[`${round} ${n}`]]);
      }));
    }
    assert(relay.asked - before <= 8, `${relay.asked - before} sockets more`);
    const { messages: { length }, asked } = relay;
    assert(length > 2 * asked, `${length} messages over ${asked} sockets`);
    const values = "SELECT NULL, 9223372036854775807, 1.5, 'ü\n\u{1f600}', x'00ff', '', 1e999, -1e999";
    assertEquals(await tenant.rows(values), [
      [null, "9223372036854775807", 1.5, "ü\n\u{1f600}", { $blob: "AP8=" }, "", "Infinity", "-Infinity"],
    ]);
    assertEquals(await tenant.rows(COUNT), [[103]]);
  });
});

Deno.test("a socket that is cut with a call on it: each call runs once and is answered", async () => {
  await withRelay(async (_world, relay, tenant) => {
    const isCommit = (message: string) =>
      message.includes('"COMMIT"') && message.includes("_service_meta_audit");
    const isWhole = (message: string) => message.includes("INSERT INTO t") && isCommit(message);
    const isFirst = (message: string) => message.includes("INSERT INTO t") && !isCommit(message);
    const isRead = (message: string) => message.includes("SELECT a FROM t WHERE");
    let rows = 0;
    for (const [what, isMeant] of Object.entries({ isWhole, isFirst, isCommit, isRead })) {
      const returns = what === "isWhole" ? "" : " RETURNING id";
      for (const fate of ["cut before", "cut behind"] as const) {
        const name = `${what} ${fate}`;
        await warm(tenant, name);
        let cuts = 0;
        relay.fate = (message) => isMeant(message) && cuts++ === 0 ? fate : "goes on";
        const outcome = await tenant.run("write", [[`INSERT INTO t (a) VALUES (?)${returns}`, name]]);
        assert(outcome.ok === true, name);
        assertEquals(outcome.results[0]?.rowsWritten, 1, name);
        assertEquals(await tenant.rows("SELECT a FROM t WHERE a = ?", [name]), [[name]]);
        relay.fate = () => "goes on";
        assert(cuts > 0, `nothing was cut: ${name}`);
        rows += 4;
        assertEquals(await tenant.rows(COUNT), [[rows]]);
      }
    }
    const audited = await tenant.rows("SELECT count(*) FROM _service_meta_audit WHERE rows_written = 1");
    assertEquals(audited, [[rows]]);
  });
});

const FIGURES =
  "SELECT rows_read, rows_written, duration_ms > 0, (SELECT rows_written FROM _service_meta_audit " +
  "WHERE query_log_id = l.id) FROM _service_meta_query_log l WHERE sql = ? AND status = 'ok' ORDER BY l.id";
/** One statement that writes, with its text in the log. */
function write(
  tenant: Tenant,
  [sql, ...values]: readonly [string, ...SqlParameter[]],
  more: Partial<TenantCall> = {},
) {
  const { log } = tenantCall(0, "write", []);
  return tenant.run("write", [[sql, ...values]], { log: log && { ...log, sql }, changeKinds: 1, ...more });
}

/** Their rows of the log, complete. */
const figuresOf = (tenant: Tenant, sql: string) => tenant.rows(FIGURES, [sql], { readsLog: true });

Deno.test("an INSERT of one row is one message with all that is recorded of it, and its log row is completed", async () => {
  await withRelay(async (_world, relay, tenant) => {
    await warm(tenant, "warm");
    const sql = "INSERT INTO t (a) VALUES (?) ";
    const before = relay.messages.length;
    for (const name of ["one", "two"]) {
      const outcome = await write(tenant, [sql, name]);
      assert(outcome.ok === true && outcome.durationMs > 0);
      assertEquals(outcome.results.map(({ rowsRead, rowsWritten }) => [rowsRead, rowsWritten]), [[0, 1]]);
    }
    const sent = relay.messages.slice(before).filter((message) => message.includes(sql));
    assertEquals(sent.map((message) => message.includes('"COMMIT"')), [true, true]);
    assertEquals(await figuresOf(tenant, sql), [[0, 1, 1, 1], [0, 1, 1, 1]]);
    assertEquals(await tenant.rows("SELECT rows FROM _service_meta_change ORDER BY seq DESC LIMIT 2"), [[1], [
      1,
    ]]);
  });
});

Deno.test("an INSERT that does not insert one row by itself is counted and recorded by what it has done", async () => {
  await withRelay(async (_world, _relay, tenant) => {
    await warm(tenant, "warm");
    const made = [
      "CREATE TABLE p (id INTEGER PRIMARY KEY)",
      "CREATE TABLE c (p INTEGER REFERENCES p(id), u UNIQUE)",
    ];
    for (const sql of made) await tenant.run("schema", [[sql]]);
    await write(tenant, ["INSERT INTO p VALUES (1)"]);
    await warm(tenant, "again");
    const two = "INSERT INTO t (a) VALUES (?), (?)";
    for (let n = 0; n < 3; n++) {
      const outcome = await write(tenant, [two, `${n} a`, `${n} b`]);
      assertEquals(outcome.ok === true && outcome.results[0]?.rowsWritten, 2);
    }
    assertEquals(await figuresOf(tenant, two), Array.from({ length: 3 }, () => [0, 2, 1, 2]));
    const child = "INSERT INTO c VALUES (?, ?)";
    for (let n = 0; n < 3; n++) {
      const outcome = await write(tenant, [child, 1, n]);
      assert(outcome.ok === true);
      assertEquals((await figuresOf(tenant, child)).at(-1), [outcome.results[0]?.rowsRead, 1, 1, 1]);
    }
    for (const [values, kind] of [[[1, 2], "unique_violation"], [[2, 9], "foreign_key_violation"]] as const) {
      const outcome = await write(tenant, [child, ...values]);
      assertEquals(outcome.ok === false && outcome.failure.kind, kind);
    }
    assertEquals(await tenant.rows("SELECT count(*) FROM c"), [[3]]);
    await tenant.run("schema", [[
      "CREATE TRIGGER more AFTER INSERT ON p BEGIN INSERT INTO t (a) VALUES (new.id); END",
    ]]);
    await warm(tenant, "trigger");
    const outcome = await write(tenant, ["INSERT INTO p VALUES (?)", 2]);
    assertEquals(outcome.ok === true && outcome.results[0]?.rowsWritten, 2);
    assertEquals((await figuresOf(tenant, "INSERT INTO p VALUES (?)")).map((row) => row.slice(1)), [[
      2,
      1,
      2,
    ]]);
  });
});

Deno.test("an INSERT of one row that comes to the server after it was looked for and run again is not there twice", async () => {
  await withRelay(async (_world, relay, tenant) => {
    await warm(tenant, "warm");
    const held = Promise.withResolvers<void>();
    relay.late = held.promise;
    const sql = "INSERT INTO t (id) VALUES (NULL)";
    let late = 0;
    relay.fate = (message) => message.includes(sql) && late++ === 0 ? "comes late" : "goes on";
    const outcome = await write(tenant, [sql]);
    assert(outcome.ok === true && outcome.results[0]?.rowsWritten === 1);
    held.resolve();
    await relay.arrived;
    assertEquals(await tenant.rows(COUNT), [[4]]);
    assertEquals((await figuresOf(tenant, sql)).map((row) => row.slice(1)), [[1, 1, 1]]);
    const all =
      "SELECT count(*) FROM _service_meta_query_log WHERE sql = ? UNION ALL SELECT count(*) FROM _service_meta_audit";
    assertEquals(await tenant.rows(all, [sql]), [[1], [5]]);
  });
});

Deno.test("an INSERT of one row under a schema that another process has changed meanwhile leaves nothing", async () => {
  await withRelay(async (world, relay, tenant) => {
    await warm(tenant, "warm");
    const { schemaVersion } = await tenant.database.inspect([]);
    const elsewhere = world.store().open({ databaseId: tenant.id, namespaceId: "ns_1" });
    const { schemaVersion: now } = await elsewhere.inspect([]);
    await elsewhere.run(tenantCall(now, "schema", [["CREATE TABLE u (b)"]]));
    const before = relay.messages.length;
    const call = tenantCall(schemaVersion, "write", [["INSERT INTO t (a) VALUES ('stale')"]]);
    assertEquals((await tenant.database.run(call)).ok, "stale");
    assert(relay.messages.slice(before).some((message) => message.includes('"COMMIT"')));
    assertEquals(await tenant.rows("SELECT count(*) FROM t WHERE a = 'stale'"), [[0]]);
    assertEquals((await write(tenant, ["INSERT INTO t (a) VALUES ('stale')"])).ok, true);
  });
});

Deno.test("where sockets are refused or never answered, calls go by HTTP, and not each asks again", async () => {
  for (const upgrades of ["are refused", "get no answer"] as const) {
    await withRelay(async (_world, relay, tenant) => {
      relay.upgrades = upgrades;
      for (let n = 0; n < 10; n++) {
        assertEquals((await tenant.run("write", [["INSERT INTO t (a) VALUES (?)", `${n}`]])).ok, true);
        assertEquals(await tenant.rows(COUNT), [[n + 1]]);
      }
      assertEquals([relay.asked, relay.open], [1, 0]);
    });
  }
});

Deno.test("a socket that never opens takes the time of one short call, not of every other one", async () => {
  await withSqld(async (world) => {
    await using relay = openSocketRelay(world.sqld.url);
    const store = world.store({ url: relay.url, queryTimeoutMs: 500 });
    const tenant = await Tenant.create(store, [T]);
    relay.upgrades = "get no answer";
    const ended: boolean[] = [];
    for (let n = 0; n < 6; n++) ended.push((await tenant.run("read", [[COUNT]])).ok === true);
    assertEquals(ended, [true, false, true, true, true, true]);
    assertEquals(relay.asked, 1);
    await store.close();
  });
});

Deno.test("what is too long for a message, or has an answer that ends the socket, is answered as by HTTP", async () => {
  await withRelay(async (_world, relay, tenant) => {
    const broken = [["SELECT CAST(x'ff' AS TEXT)"]] as const;
    const first = await tenant.run("read", broken);
    await warm(tenant, "first");
    assert(relay.open >= 2);
    const long = ["b", "c", "d"].map((letter) => letter.repeat(500_000));
    const bounds = { rows: 1000, bytes: 20_000_000 };
    const insert = long.map((text) => ["INSERT INTO t (a) VALUES (?)", text] as const);
    assertEquals((await tenant.run("write", insert)).ok, true);
    const select = long.map((text) => ["SELECT length(?)", text] as const);
    assertEquals((await tenant.run("read", select)).ok, true);
    await warm(tenant, "second");
    // The request is short; the answer, which is stored beside the change, is not.
    const nowMs = Date.now();
    const keys = [{ key: "ab".repeat(32), requestHash: "h" }];
    const replay = { keys, nowMs, expiresAtMs: nowMs + 60_000, context: "{}" };
    const changes = ["b", "c", "d"].map((letter) =>
      [`UPDATE t SET a = upper(a) WHERE a LIKE '${letter}%' AND length(a) = 500000 RETURNING a`] as const
    );
    const changed = await tenant.run("write", changes, { bounds, replay });
    assert(changed.ok === true);
    assertEquals(changed.results.map(({ rowsWritten }) => rowsWritten), [1, 1, 1]);
    const again = await tenant.run("read", broken);
    assert(first.ok === false && again.ok === false);
    assertEquals(again.failure, first.failure);
  });
});

Deno.test("a statement that is stopped ends in the server with its socket, and leaves nothing", async () => {
  await withRelay(async (world, relay, tenant) => {
    for (let round = 0; round < 3; round++) {
      await warm(tenant, `${round}`);
      assert(relay.open >= 2);
      const outcome = await tenant.run("read", [[ENDLESS]], { timeoutMs: 300 });
      assert(outcome.ok === false);
      assertEquals(outcome.failure.kind, "timeout");
      const changing = await tenant.run("write", [[`INSERT INTO t (a) ${ENDLESS}`]], { timeoutMs: 300 });
      assert(changing.ok === false);
      assertEquals(changing.failure.kind, "timeout");
    }
    assertEquals(await tenant.rows(COUNT), [[9]]);
    const busy = await processorMs(world.sqld.pid);
    await pause(200);
    assert(await processorMs(world.sqld.pid) - busy < 100, "the server still works on them");
  });
});

/** Of all its threads, until now. */
async function processorMs(pid: number): Promise<number> {
  const [, after = ""] = (await Deno.readTextFile(`/proc/${pid}/stat`)).split(") ");
  const fields = after.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

Deno.test("a server that is killed takes the sockets along, and calls after its start open others", async () => {
  await withRelay(async (world, relay, tenant) => {
    for (let round = 0; round < 3; round++) {
      await warm(tenant, `${round}`);
      await world.sqld.kill();
      await world.sqld.restart();
      assertEquals(await tenant.rows(COUNT), [[3 * round + 3]]);
    }
    await warm(tenant, "last");
    assert(relay.open >= 2);
  });
});

Deno.test("a socket does not outlive its database: what another process has dropped or restored is not written to", async () => {
  await withRelay(async (world, relay, tenant) => {
    await warm(tenant, "kept");
    assert(relay.open >= 2);
    const other = world.store();
    await other.open({ databaseId: tenant.id, namespaceId: "ns_1" }).takeSnapshot("before");
    await warm(tenant, "undone");
    await other.open({ databaseId: tenant.id, namespaceId: "ns_1" }).restore("before", { undoLabel: "undo" });
    assertEquals(rowsOf(await ask(tenant.database, "read", COUNT)), [[3]]);
    await warm(tenant, "later");
    assertEquals(
      rowsOf(await ask(other.open({ databaseId: tenant.id, namespaceId: "ns_1" }), "read", COUNT)),
      [[6]],
    );
    await other.drop(tenant.id);
    const error = await failureOf(() => tenant.run("write", [["INSERT INTO t (a) VALUES ('late')"]]));
    assertEquals(error.code, "store_unavailable");
  });
});

Deno.test("an INSERT of one row whose time is over while another process writes is there once or not at all", async () => {
  await withRelay(async (world, relay, tenant) => {
    await warm(tenant, "warm");
    const other = openStream(world, tenant.id);
    await other("BEGIN IMMEDIATE");
    const name = "INSERT INTO t (a) VALUES ('late')";
    const writing = write(tenant, [name], { timeoutMs: 300 });
    // Longer than the call may take.
    await pause(600);
    await other("COMMIT");
    const outcome = await writing;
    const sent = relay.messages.filter((message) => message.includes(name));
    assert(sent.some((message) => message.includes('"COMMIT"')));
    const there = [[outcome.ok === true ? 1 : 0]];
    assertEquals(await tenant.rows("SELECT count(*) FROM t WHERE a = 'late'"), there);
    assertEquals(await tenant.rows("SELECT count(*) - 4 FROM _service_meta_audit"), there);
  });
});

/** A stream of another process. */
function openStream(world: SqldWorld, databaseId: string) {
  let baton: string | null = null;
  return async (sql: string) => {
    const response: Response = await fetch(`${world.sqld.url}/v3/pipeline`, {
      method: "POST",
      headers: { "x-namespace-bin": btoa(locationOf(databaseId)).replace(/=+$/, "") },
      body: JSON.stringify({ baton, requests: [{ type: "execute", stmt: { sql } }] }),
    });
    const answer: { baton: string | null } = await response.json();
    baton = answer.baton;
  };
}
