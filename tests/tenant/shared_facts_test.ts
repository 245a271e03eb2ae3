// What engine children know of a schema holds in every database that has it, and in no other: through the embedded store.
import { assert, assertEquals } from "@std/assert";
import { configFromEnvironment } from "../../lib/config.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { createLocalStore } from "../../lib/tenant/local/create_local_store.ts";
import type { LocalStore } from "../../lib/tenant/local/local_store.ts";
import type { InspectOptions } from "../../lib/tenant/inspection.ts";
import { rowsOf, Tenant } from "../contracts/tenant_store.ts";

const PARENT = "CREATE TABLE p (id INTEGER PRIMARY KEY, a TEXT)";
const CASCADE = "CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p ON DELETE CASCADE)";
const PLAIN = "CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p)";

async function inspected(tenant: Tenant, sql: string, options?: InspectOptions) {
  const { facts: [facts], failure } = await tenant.database.inspect([{ sql, changesSchema: false }], options);
  assert(facts, JSON.stringify(failure));
  return facts;
}

/** Columns and rows of a read. */
async function read(tenant: Tenant, sql: string): Promise<unknown[]> {
  const outcome = await tenant.run("read", [[sql]]);
  assert(outcome.ok === true, JSON.stringify(outcome));
  return [JSON.parse(`${outcome.results.at(-1)?.json}}`).columns, rowsOf(outcome)];
}

/** Databases with these schemas; the table `p` of each has one row, which tells which one it is. */
async function tenants(store: LocalStore, schemas: readonly (readonly string[])[]): Promise<Tenant[]> {
  const made: Tenant[] = [];
  for (const [at, schema] of schemas.entries()) {
    const tenant = await Tenant.create(store, schema);
    await tenant.run("write", [["INSERT INTO p (a) VALUES (?)", `of ${at}`]]);
    made.push(tenant);
  }
  return made;
}

Deno.test("databases share what is known of statements, but no other schema's tables, columns or rows", async (t) => {
  const dataDirectory = await Deno.makeTempDir({ prefix: "cubby_shared_" });
  const store = await createLocalStore({
    ...{
      dataDirectory,
      queryTimeoutMs: 20_000,
      logDays: 30,
      snapshotDays: 7,
      clock: systemClock,
      log: silentLog,
    },
    ...{ engineEnvironment: configFromEnvironment().engineEnvironment, maxChildren: 3 },
  });
  // The store goes on reading from its children between the steps; the sanitizers look at the test as a whole.
  const step = (name: string, fn: () => Promise<void>) =>
    t.step({ name, fn, sanitizeOps: false, sanitizeResources: false });
  try {
    await step("ten databases of one schema answer with their own rows", async () => {
      const all = await tenants(store, Array(10).fill([PARENT]));
      for (let round = 0; round < 3; round++) {
        const answers = await Promise.all(all.map((tenant) => read(tenant, "SELECT a FROM p WHERE id = 1")));
        assertEquals(answers, all.map((_, at) => [["a"], [[`of ${at}`]]]));
      }
    });
    await step("what a delete touches follows each database's own references", async () => {
      const all = await tenants(store, [[PARENT, CASCADE], [PARENT, PLAIN], [PARENT, CASCADE]]);
      for (let round = 0; round < 2; round++) {
        const found = await Promise.all(all.map((tenant) => inspected(tenant, "DELETE FROM p WHERE id = 9")));
        assertEquals(found.map((facts) => facts.tablesWritten), [["c", "p"], ["p"], ["c", "p"]]);
      }
    });
    await step(
      "what is learned without foreign keys is not believed with them, nor the other way",
      async () => {
        const [first, second] = await tenants(store, [[PARENT, CASCADE], [PARENT, CASCADE]]);
        assert(first && second);
        const sql = "DELETE FROM p WHERE id = 7";
        const written = async (tenant: Tenant, foreignKeysOff: boolean) =>
          (await inspected(tenant, sql, { foreignKeysOff })).tablesWritten;
        for (let round = 0; round < 2; round++) {
          assertEquals(await written(first, true), ["p"]);
          assertEquals(await written(second, false), ["c", "p"]);
          assertEquals(await written(second, true), ["p"]);
          assertEquals(await written(first, false), ["c", "p"]);
        }
      },
    );
    await step(
      "a view of the same name shows what its own database says, also after it has changed",
      async () => {
        const view = (columns: string) => `CREATE VIEW v AS SELECT ${columns} FROM p`;
        const all = await tenants(store, [[PARENT, view("a")], [PARENT, view("id, a")], [PARENT, view("a")]]);
        const columns = async () => {
          const answers = await Promise.all(all.map((tenant) => read(tenant, "SELECT * FROM v")));
          return answers.map(([names]) => names);
        };
        for (let round = 0; round < 3; round++) assertEquals(await columns(), [["a"], ["id", "a"], ["a"]]);
        await all[2]?.run("schema", [["DROP VIEW v"], [view("id")]]);
        for (let round = 0; round < 3; round++) assertEquals(await columns(), [["a"], ["id", "a"], ["id"]]);
        await all[2]?.run("schema", [["DROP VIEW v"], [view("a")]]);
        for (let round = 0; round < 3; round++) assertEquals(await columns(), [["a"], ["id", "a"], ["a"]]);
      },
    );
    await step("a database that a restore has given another schema is read by that schema", async () => {
      const all = await tenants(store, [[PARENT], [PARENT]]);
      const [first, second] = all;
      assert(first && second);
      const columns =
        async () => [(await read(first, "SELECT * FROM p"))[0], (await read(second, "SELECT * FROM p"))[0]];
      await first.database.takeSnapshot("before");
      await first.run("schema", [["ALTER TABLE p ADD COLUMN b"]]);
      assertEquals(await columns(), [["id", "a", "b"], ["id", "a"]]);
      await second.run("schema", [["ALTER TABLE p ADD COLUMN c"]]);
      assertEquals(await columns(), [["id", "a", "b"], ["id", "a", "c"]]);
      await first.database.restore("before", { undoLabel: "after" });
      assertEquals(await columns(), [["id", "a"], ["id", "a", "c"]]);
      await first.database.restore("after", { undoLabel: "again" });
      assertEquals(await columns(), [["id", "a", "b"], ["id", "a", "c"]]);
    });
  } finally {
    await store.close();
    await Deno.remove(dataDirectory, { recursive: true });
  }
});
