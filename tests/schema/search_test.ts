// How well search finds what is meant, on questions that were written before it was tuned.
import { assert, assertEquals } from "@std/assert";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";
import { type SearchSchema, searchSchemas } from "./search_questions.ts";

interface Hit {
  readonly kind: string;
  readonly table: string;
  readonly column: string | null;
  readonly description: string;
  readonly score: number;
}

/** Makes the tables and stores the descriptions over the API; the path of the database. */
async function makeSchema(app: StartedApp, tenant: TestNamespace, schema: SearchSchema): Promise<string> {
  const { path } = await tenant.createDatabase(schema.name);
  const { token } = tenant;
  const statements = schema.tables.map(({ table, columns }) => ({
    sql: `CREATE TABLE "${table}" (${columns.map(([name, type]) => `"${name}" ${type}`).join(", ")})`,
  }));
  const made = await app.request("POST", `${path}/batch`, { token, body: { statements } });
  assertEquals(made.status, 200, made.text);
  const described = await app.request("PUT", `${path}/describe`, {
    token,
    body: {
      databaseDescription: schema.databaseDescription,
      tables: schema.tables.map(({ table, description, columns }) => ({
        table,
        ...(description === undefined ? {} : { description }),
        columns: columns.flatMap(([column, , description]) =>
          description === undefined ? [] : [{ column, description }]
        ),
      })),
    },
  });
  assertEquals(described.status, 200, described.text);
  return path;
}

async function ask(app: StartedApp, token: string, path: string, q: string, limit = 3): Promise<Hit[]> {
  const answer = await app.request("GET", `${path}/search?q=${encodeURIComponent(q)}&limit=${limit}`, {
    token,
  });
  assertEquals(answer.status, 200, answer.text);
  const { query, hits } = answer.body.data as { query: string; hits: Hit[] };
  assertEquals(query, q);
  assert(hits.length <= limit);
  return hits;
}

const nameOf = ({ table, column }: Hit) => column === null ? table : `${table}.${column}`;

Deno.test("search answers nine of ten held-out questions among its first three hits", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const missed: string[] = [];
  let asked = 0;
  for (const schema of searchSchemas) {
    const path = await makeSchema(app, tenant, schema);
    for (const { q, expects } of schema.questions) {
      asked++;
      const hits = (await ask(app, tenant.token, path, q)).map(nameOf);
      if (!hits.some((hit) => expects.includes(hit))) {
        missed.push(`${schema.name}: ${q} → ${hits.join(", ")}, not ${expects.join(" or ")}`);
      }
    }
  }
  assertEquals(asked, 60);
  assert(missed.length <= asked / 10, missed.join("\n"));
});
