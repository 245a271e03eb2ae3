// Every statement of the corpus is understood through the real path: the text, the real engine's compile, the join.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { StatementFacts } from "../../lib/sql/grammar/statement_facts.ts";
import { classify } from "../../lib/query/classify.ts";
import { type CorpusTenant, withCorpusTenant } from "./corpus_tenant.ts";
import { statementCorpus } from "./statement_corpus.ts";

/** What classifying says, in the corpus's own form, with only those optional parts that the expectation has. */
async function described({ ctx, store }: CorpusTenant, id: string, sql: string, expected: string) {
  const syntax = ctx.facts.syntax(sql);
  const params = Array<null>(syntax.ok ? syntax.syntax.parameterCount : 0).fill(null);
  const { facts, misunderstood } = await classify(
    ctx,
    id,
    store.open({ databaseId: id, namespaceId: "ns_1" }),
    [{ sql, params }],
  );
  const [one] = facts;
  if (one) return one.role === null ? `nobody ${one.verb}: ${one.refusal}` : factsText(one, expected);
  return `error ${misunderstood?.code ?? misunderstood?.failure.kind}`;
}

function factsText(facts: StatementFacts, expected: string): string {
  const part = (name: string, values: readonly string[]) =>
    values.length > 0 ? `; ${name} ${values.join(", ")}` : "";
  const asked = (name: string, values: readonly string[]) =>
    expected.includes(`; ${name} `) ? `; ${name} ${values.join(", ")}` : "";
  return `${facts.role} ${facts.verb}${facts.hasWhere ? " where" : ""}${
    facts.destructive ? " destructive" : ""
  }` + part("reads", facts.tablesRead) + part("writes", facts.tablesWritten) +
    part("calls", facts.functions) + asked("columns", facts.columnsRead) +
    asked("sets", facts.columnsWritten) +
    part("params", facts.parameterCount > 0 ? [`${facts.parameterCount}`] : []);
}

Deno.test("every statement of the corpus is understood exactly as the corpus says", async (t) => {
  await withCorpusTenant(async (tenant) => {
    const id = await tenant.addDatabase();
    for (const [theme, entries] of Object.entries(statementCorpus)) {
      await t.step(theme, async () => {
        const wrong: string[] = [];
        for (const [sql, expected] of entries) {
          const actual = await described(tenant, id, sql, expected);
          const right = expected.startsWith("nobody ")
            ? actual.startsWith(expected.slice(0, expected.indexOf(":") + 1)) &&
              actual.includes(expected.slice(expected.indexOf(":") + 2))
            : actual === expected;
          if (!right) wrong.push(`${JSON.stringify(sql)}\n  expected ${expected}\n  actual   ${actual}`);
        }
        assertEquals(wrong.join("\n"), "");
      });
    }
  });
});

Deno.test("what was learned once is the same when it comes from the cache", async () => {
  await withCorpusTenant(async (tenant) => {
    const id = await tenant.addDatabase();
    for (const [sql, expected] of Object.values(statementCorpus).flat()) {
      const first = await described(tenant, id, sql, expected);
      assertEquals(await described(tenant, id, sql, expected), first, sql);
    }
  });
});

Deno.test("what is learned after a change of the schema holds for the schema as it is now", async () => {
  await withCorpusTenant(async (tenant) => {
    const id = await tenant.addDatabase();
    const insert = "INSERT INTO audit_copy VALUES ('x')";
    assertEquals(await described(tenant, id, insert, ""), "write insert; writes audit_copy");
    await tenant.store.open({ databaseId: id, namespaceId: tenant.namespaceId }).write([{
      sql: "CREATE TRIGGER later AFTER INSERT ON audit_copy BEGIN DELETE FROM parents WHERE id = 1; END",
      params: [],
    }]);
    assertEquals(
      await described(tenant, id, `${insert} `, ""),
      "write insert; reads children, parents; writes audit_copy, parents",
    );
    await tenant.store.open({ databaseId: id, namespaceId: tenant.namespaceId }).write([{
      sql: "DROP TRIGGER later",
      params: [],
    }]);
    assertEquals(await described(tenant, id, ` ${insert}`, ""), "write insert; writes audit_copy");
  });
});

Deno.test("the corpus has at least 509 statements, and no statement twice", () => {
  const texts = Object.values(statementCorpus).flat().map(([sql]) => sql);
  assert(texts.length >= 509, `${texts.length} statements`);
  assertEquals(texts.filter((sql, index) => texts.indexOf(sql) !== index), []);
});

Deno.test("a refusal never repeats the text of the statement", async () => {
  await withCorpusTenant(async (tenant) => {
    const id = await tenant.addDatabase();
    const sql = "SELECT readfile('a secret of somebody'), load_extension('another')";
    const actual = await described(tenant, id, sql, "nobody");
    assertStringIncludes(actual, "nobody select");
    assert(!actual.includes("secret") && !actual.includes("another"), actual);
  });
});
