// Transactions over several requests in a remote store: any instance goes on with one, what the server takes away never
// goes on statement by statement, and a lost answer to the commit is looked up.
import { assert, assertEquals } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import type { TenantTransaction } from "../../lib/tenant/tenant_store.ts";
import { Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { failureOf, type SqldWorld, standBetween, withSqld } from "../tenant/sqld_world.ts";

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY)";

/** Runs one statement in the transaction. */
async function run(
  tenant: Tenant,
  transaction: TenantTransaction,
  sql: string,
  level: "read" | "write" | "schema" = "write",
) {
  const { schemaVersion } = await (transaction.begun ? transaction : tenant.database).inspect([]);
  const outcome = await transaction.run(tenantCall(schemaVersion, level, [[sql]]));
  assert(outcome.ok === true, JSON.stringify(outcome));
  return outcome;
}

function begin(tenant: Tenant): TenantTransaction {
  return tenant.database.begin({ mode: "immediate", tokenId: "tok_1" });
}

/** The database as another instance has it, and the transaction there. */
function elsewhere(world: SqldWorld, { id }: Tenant, transaction: TenantTransaction): TenantTransaction {
  const rested = transaction.rest();
  assert(rested !== null);
  return world.store().open({ databaseId: id, namespaceId: "ns_1" }).begin({
    mode: "immediate",
    tokenId: "tok_1",
    rested,
  });
}

Deno.test("each step of a transaction may be another instance's", async () => {
  await withSqld(async (world) => {
    const tenant = await Tenant.create(world.store(), [T]);
    const first = begin(tenant);
    await run(tenant, first, "INSERT INTO t VALUES (1)");
    assertEquals(await first.savepoint("savepoint", "s"), null);
    const second = elsewhere(world, tenant, first);
    await run(tenant, second, "CREATE TABLE u (a)", "schema");
    const third = elsewhere(world, tenant, second);
    await run(tenant, third, "INSERT INTO u VALUES (2)");
    await run(tenant, third, "INSERT INTO t VALUES (2)");
    assertEquals(await third.savepoint("rollback to", "S"), null);
    const fourth = elsewhere(world, tenant, third);
    assertEquals((await fourth.schema()).tables.map(({ name }) => name), ["t"]);
    await run(tenant, fourth, "INSERT INTO t VALUES (3)");
    assertEquals(await elsewhere(world, tenant, fourth).commit(), null);
    assertEquals(await tenant.rows("SELECT id FROM t"), [[1], [3]]);
    assertEquals(
      await tenant.rows("SELECT count(*) FROM _service_meta_query_log WHERE operation = 'transaction'"),
      [[0]],
    );
  });
});

Deno.test("what the server has given to another writer is over, and no statement of it runs alone", async () => {
  await withSqld(async (world) => {
    const tenant = await Tenant.create(world.store(), [T]);
    const one = begin(tenant);
    await run(tenant, one, "INSERT INTO t VALUES (1)");
    // The server takes five seconds to give the lock away.
    const other = world.store({ queryTimeoutMs: 60_000 }).open({
      databaseId: tenant.id,
      namespaceId: "ns_1",
    });
    const { schemaVersion } = await other.inspect([]);
    // It waits until the server takes the transaction away.
    const written = await other.run(tenantCall(schemaVersion, "write", [["INSERT INTO t VALUES (2)"]]));
    assertEquals(written.ok, true);
    const failed = async (work: () => Promise<unknown>) => (await failureOf(work)).code;
    assertEquals(await failed(() => run(tenant, one, "INSERT INTO t VALUES (3)")), "transaction_timeout");
    assertEquals(await failed(() => one.commit()), "transaction_timeout");
    assertEquals([one.ended, one.lost !== null], [false, true]);
    assertEquals(await tenant.rows("SELECT id FROM t"), [[2]]);
    // The same, where a read comes first.
    const reader = begin(tenant);
    await run(tenant, reader, "INSERT INTO t VALUES (4)");
    assertEquals(
      (await other.run(tenantCall(schemaVersion, "write", [["INSERT INTO t VALUES (5)"]]))).ok,
      true,
    );
    assertEquals(await failed(() => run(tenant, reader, "SELECT id FROM t", "read")), "transaction_timeout");
    assertEquals(await failed(() => reader.rollback()), "transaction_timeout");
    assertEquals(await tenant.rows("SELECT id FROM t"), [[2], [5]]);
  });
});

Deno.test("a commit whose answer is lost: the caller learns whether it was made", async () => {
  for (const arrives of [true, false]) {
    await withSqld(async (world) => {
      let commits = 0;
      const fetch = standBetween(async ({ sql }, go) => {
        if (!sql.includes('"COMMIT"') || !sql.includes("SAVEPOINT records")) return await go();
        commits++;
        if (arrives) await (await go()).text();
        throw new TypeError("the connection was cut");
      });
      const tenant = await Tenant.create(world.store({ fetch }), [T]);
      const one = begin(tenant);
      await run(tenant, one, "INSERT INTO t VALUES (1)");
      if (arrives) assertEquals(await one.commit(), null);
      else {
        // The server still has the transaction, until its stream is over or another writer comes.
        const error = await failureOf(() => one.commit());
        assert(error instanceof AppError);
        assertEquals(error.code, "transaction_timeout");
      }
      assertEquals([commits, one.ended], [1, arrives]);
      assertEquals(await tenant.rows("SELECT id FROM t"), arrives ? [[1]] : []);
    });
  }
});

Deno.test("a restore ends it: nothing of it comes after", async () => {
  await withSqld(async (world) => {
    const tenant = await Tenant.create(world.store(), [T]);
    await tenant.database.takeSnapshot("before");
    const one = tenant.database.begin({ mode: "deferred", tokenId: "tok_1" });
    await run(tenant, one, "SELECT * FROM t", "read");
    await tenant.database.restore("before", { undoLabel: "undo" });
    assertEquals(
      (await failureOf(() => run(tenant, one, "INSERT INTO t VALUES (1)"))).code,
      "transaction_timeout",
    );
    assertEquals(await tenant.rows("SELECT id FROM t"), []);
  });
});
