// The last layer alone: statements that were never classified meet connections that cannot do more than their level.
import { assert, assertEquals } from "@std/assert";
import type { Level } from "../../lib/engine/guard.ts";
import { NOTE_DIGEST, NOTE_NAME } from "../../lib/engine/footprint/row_notes.ts";
import type { TenantCall, TenantOutcome } from "../../lib/tenant/tenant_store.ts";
import { tenantCall } from "../contracts/tenant_store.ts";
import { replaySecret } from "../sql/corpus_schema.ts";
import { type CorpusTenant, withCorpusTenant } from "../sql/corpus_tenant.ts";
import { statementCorpus } from "../sql/statement_corpus.ts";
import { tenantDump } from "./tenant_dump.ts";

const corpus = Object.values(statementCorpus).flat();

async function runUnclassified(
  { store, ctx }: CorpusTenant,
  databaseId: string,
  level: Level,
  sql: string,
): Promise<TenantOutcome> {
  const database = store.open({ databaseId, namespaceId: "ns_1" });
  const { schemaVersion } = await database.inspect([]);
  const result = ctx.facts.syntax(sql);
  const params = Array<number>(result.ok ? result.syntax.parameterCount : 0).fill(1);
  return await database.run(tenantCall(schemaVersion, level, [[sql, ...params]], { log: null }));
}

/** Statements that do nothing where they have nothing to do, so that no layer needs to stop them. */
const harmless = /\bIF (?:NOT )?EXISTS\b/i;

/** To a virtual table: no authorizer is told the word. They change no definition, and the pipeline asks for the role. */
const command = /^INSERT INTO (\w+) \(\1\) VALUES/i;

Deno.test("a reading connection changes nothing, whatever it is made to run", async () => {
  await withCorpusTenant(async (tenant) => {
    const own = await tenant.addDatabase();
    const other = await tenant.addDatabase();
    const before = await Promise.all([own, other].map((id) => tenantDump(tenant, id)));
    for (const [sql, expected] of corpus) {
      const outcome = await runUnclassified(tenant, own, "read", sql);
      if (/^(?:write|admin) /.test(expected) && !harmless.test(sql)) {
        assert(outcome.ok === false, `${sql} ran`);
        assert(["denied", "readonly"].includes(outcome.failure.kind), `${sql}: ${outcome.failure.kind}`);
      }
      assert(!JSON.stringify(outcome).includes(replaySecret), sql);
      assert(!JSON.stringify(outcome).includes(tenant.config.dataDir), sql);
    }
    assertEquals(await Promise.all([own, other].map((id) => tenantDump(tenant, id))), before);
  });
});

Deno.test("a writing connection changes no definition and none of the service's tables", async () => {
  await withCorpusTenant(async (tenant) => {
    const own = await tenant.addDatabase();
    const before = await Promise.all(
      (["definitions", "service"] as const).map((part) => tenantDump(tenant, own, part)),
    );
    for (const [sql, expected] of corpus) {
      const outcome = await runUnclassified(tenant, own, "write", sql);
      if (expected.startsWith("admin ") && !harmless.test(sql) && !command.test(sql)) {
        assert(outcome.ok === false && outcome.failure.kind === "denied", `${sql} was not denied`);
      }
      assert(!JSON.stringify(outcome).includes(replaySecret), sql);
    }
    const after = await Promise.all(
      (["definitions", "service"] as const).map((part) => tenantDump(tenant, own, part)),
    );
    assertEquals(after, before);
  });
});

Deno.test("even a connection that changes the schema opens no other file, loads nothing and tells no kept answer", async () => {
  await withCorpusTenant(async (tenant) => {
    const own = await tenant.addDatabase();
    const other = await tenant.addDatabase();
    const before = await tenantDump(tenant, other);
    for (const [sql, expected] of corpus) {
      if (!expected.startsWith("nobody ")) continue;
      const outcome = await runUnclassified(tenant, own, "schema", sql);
      if (/ATTACH|DETACH|VACUUM|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|The function/.test(expected)) {
        // What EXPLAIN, bodies and unused CTEs hold is compiled later or not at all.
        if (!/^(?:EXPLAIN|CREATE|WITH)/.test(sql)) assertEquals(outcome.ok, false, `${sql} ran`);
      }
      assert(!JSON.stringify(outcome).includes(replaySecret), sql);
      assert(!JSON.stringify(outcome).includes(tenant.config.dataDir), sql);
    }
    assertEquals(await tenantDump(tenant, other), before);
    const names = [...Deno.readDirSync(tenant.config.dataDir)].map((entry) => entry.name);
    assertEquals(names.filter((name) => /escaped|other/.test(name)), []);
  });
});

Deno.test("the functions that the service's triggers call are no tenant's, by whatever name in FROM, also where they are left", async () => {
  await withCorpusTenant(async ({ store, addDatabase }) => {
    const database = store.open({ databaseId: await addDatabase(), namespaceId: "ns_1" });
    const run = async (level: Level, sql: string, more: Partial<TenantCall> = {}) => {
      const { schemaVersion } = await database.inspect([]);
      return await database.run(tenantCall(schemaVersion, level, [[sql]], { log: null, ...more }));
    };
    await run("schema", "CREATE TABLE noted (id)");
    const footprint = { salt: "s", each: false, expects: null, tables: ["noted"], replaced: [] };
    const looked = await run("write", "INSERT INTO noted VALUES (1)", { dryRun: true, footprint });
    assertEquals(looked.ok === true && looked.footprint !== undefined, true, JSON.stringify(looked));
    const name = `${NOTE_NAME}_0_insert`;
    for (const call of [`${NOTE_NAME}('noted', 'insert')`, `${NOTE_DIGEST}(x'00')`]) {
      for (
        const from of [
          `SELECT x FROM (SELECT ${call} AS x)`,
          `SELECT x FROM (SELECT ${call} AS x) AS ${name}`,
          `WITH ${name}(x) AS (SELECT ${call}) SELECT x FROM ${name}`,
          `WITH ${name}(x) AS MATERIALIZED (SELECT ${call} LIMIT 1) SELECT x FROM ${name}`,
          `WITH ${name}(x) AS (SELECT 1 UNION ALL SELECT ${call} FROM ${name} LIMIT 2) SELECT x FROM ${name}`,
        ]
      ) {
        const outcome = await run("write", `INSERT INTO noted ${from}`);
        assertEquals(outcome.ok === false && outcome.failure.kind, "denied", from);
      }
    }
  });
});
