// Callers who hang up, and statements that an sqld refuses as a whole: neither leaves a transaction open at the server,
// whose lock would hold up every writer of the database, of this process and of all others, for five seconds.
import { assert, assertEquals } from "@std/assert";
import type { TenantCall } from "../../lib/tenant/tenant_store.ts";
import { assertPrompt } from "../testing/assert_prompt.ts";
import { Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { standBetween, withSqld } from "./sqld_world.ts";

const INSERT = "INSERT INTO t VALUES (?)";
const MARK = "hangs up here";

interface Case {
  readonly name: string;
  readonly statements: TenantCall["statements"];
  readonly more?: Partial<TenantCall>;
}

const one = (sql: string, ...params: string[]): TenantCall["statements"] => [{ sql, params, level: "write" }];
const cases: readonly Case[] = [
  { name: "an insert", statements: one(INSERT, MARK) },
  {
    name: "a batch that is not atomic",
    statements: [...one(INSERT, "first"), ...one(INSERT, MARK), ...one(INSERT, "last")],
    more: { atomic: false },
  },
  { name: "a dry run", statements: one(INSERT, MARK), more: { dryRun: true } },
];

Deno.test("a caller who hangs up while the answer is on its way holds up no writer, here or elsewhere", async () => {
  await withSqld(async (world) => {
    let gone = new AbortController();
    const fetch = standBetween(async ({ sql }, go) => {
      const answer = await go();
      if (sql.includes(MARK)) gone.abort();
      return answer;
    });
    const tenant = await Tenant.create(world.store({ fetch, queryTimeoutMs: 20_000 }), [
      "CREATE TABLE t (a)",
    ]);
    const elsewhere = world.store({ queryTimeoutMs: 20_000 }).open({
      databaseId: tenant.id,
      namespaceId: "ns_1",
    });
    for (const { name, statements, more } of cases) {
      await assertPrompt(async () => {
        gone = new AbortController();
        const { schemaVersion } = await elsewhere.inspect([]);
        const left = tenant.database.run({
          ...tenantCall(schemaVersion, "write", []),
          ...{ statements, ...more, signal: () => gone.signal },
        }).then(() => "answered", () => "refused");
        await new Promise((resolve) => gone.signal.addEventListener("abort", resolve));
        const startedMs = performance.now();
        const outcomes = await Promise.all([
          elsewhere.run(tenantCall(schemaVersion, "write", [[INSERT, "elsewhere"]])),
          tenant.run("write", [[INSERT, "here"]]),
        ]);
        const tookMs = performance.now() - startedMs;
        assertEquals(outcomes.map(({ ok }) => ok), [true, true], name);
        await left;
        return tookMs;
      }, name);
    }
  });
});

Deno.test("a statement that sqld cannot read leaves no transaction open behind it", async () => {
  await withSqld(async (world) => {
    const store = world.store({ queryTimeoutMs: 20_000 });
    const tenant = await Tenant.create(store, ["CREATE TABLE t (a)"]);
    const elsewhere = world.store().open({ databaseId: tenant.id, namespaceId: "ns_1" });
    // SQLite's grammar has it, that of the server has not.
    const unreadable = "INSERT INTO t SELECT group_concat(a ORDER BY a) FROM t";
    const before = { ...tenantCall(0, "write", [[INSERT, "first"], [unreadable]]), atomic: false };
    const { schemaVersion } = await tenant.database.inspect([]);
    await assertPrompt(async () => {
      const startedMs = performance.now();
      const outcome = await tenant.database.run({ ...before, schemaVersion });
      const after = await elsewhere.run(tenantCall(schemaVersion, "write", [[INSERT, "elsewhere"]]));
      const tookMs = performance.now() - startedMs;
      assert(outcome.ok === false && after.ok === true, JSON.stringify([outcome, after]));
      assertEquals([outcome.failedIndex, outcome.failure.message], [
        1,
        "the server does not run statements of this form",
      ]);
      return tookMs;
    });
  });
});
