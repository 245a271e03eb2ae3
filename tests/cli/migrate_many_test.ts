// `deno task migrate` on every database whose name begins so.
import { assertEquals, assertMatch } from "@std/assert";
import { migrate } from "../../lib/cli/migrate.ts";
import { migrateMany } from "../../lib/cli/migrate_many.ts";
import { testSteps } from "../testing/cases.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { writeFolder } from "./tool_folders.ts";

interface World {
  readonly app: StartedApp;
  readonly tenant: TestNamespace;
  /** Runs the command on databases of the namespace: its exit code and what it has said. */
  run(files: Readonly<Record<string, string>>, names: string, ...args: string[]): Promise<Ran>;
  query(database: string, sql: string): Promise<unknown>;
}

interface Ran {
  readonly code: number;
  readonly said: string;
}

async function world(app: StartedApp, slug: string): Promise<World> {
  const tenant = await app.namespace(slug);
  for (const name of ["tenant-a", "tenant-b", "tenant-c"]) await tenant.createDatabase(name);
  let refused = 0;
  return {
    app,
    tenant,
    run: async (files, names, ...args) => {
      const folder = await writeFolder(files);
      const lines: string[] = [];
      try {
        const code = await migrate(
          ["--dir", folder, "--db", `http://127.0.0.1/v1/db/${slug}/${names}`, ...args],
          {
            db: undefined,
            token: tenant.token,
            calledIn: undefined,
            // Each other request is one too many for its address.
            fetch: async (input, init) => {
              if (refused++ % 2 === 1) return await app.app.request(input, init);
              const body = { success: false, error: "Slow down", code: "too_many_requests" };
              return Response.json(body, { status: 429, headers: { "retry-after": "0" } });
            },
            say: (line) => void lines.push(line),
          },
        );
        return { code, said: lines.join("\n") };
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
    query: async (database, sql) => {
      const path = `/v1/db/${slug}/${database}/query`;
      const answer = await app.request("POST", path, { token: tenant.token, body: { sql } });
      return answer.status === 200 ? rowsOf(answer) : answer.body.code;
    },
  };
}

const FIRST = { "1.sql": "CREATE TABLE one (a)" };
const BOTH = { ...FIRST, "2.sql": "CREATE TABLE two (a)" };

testSteps("the command on many databases", world, {
  "applies the files to all whose names begin so, and to each of them once": async ({ run, query }) => {
    const { code, said } = await run(FIRST, "tenant-*");
    assertEquals(code, 0, said);
    assertMatch(said, /^tenant-a: applied 1\.sql\n/);
    assertMatch(
      said,
      /Of 3 databases 3 had something to tell, 0 had nothing to do, 0 wait for a person, 0 refused\.$/,
    );
    for (const name of ["a", "b", "c"]) assertEquals(await query(`tenant-${name}`, "SELECT * FROM one"), []);
    assertEquals(await query("main", "SELECT * FROM one"), "sql_error");
    assertEquals(await run(FIRST, "tenant-*"), {
      code: 0,
      said: "Of 3 databases 0 had something to tell, 3 had nothing to do, 0 wait for a person, 0 refused.",
    });
    const later = await run(BOTH, "*", "--status");
    assertMatch(later.said, /^main: pending {2}1\.sql\nmain: pending {2}2\.sql\n/);
    assertEquals(later.said.match(/tenant-.: pending {2}2\.sql/g)?.length, 3, later.said);
    assertEquals((await run(BOTH, "*")).code, 0);
    for (const name of ["main", "tenant-c"]) assertEquals(await query(name, "SELECT * FROM two"), []);
  },

  "goes on behind one that refuses, and asks no other where it is the first": async ({ run, query }) => {
    await query("tenant-b", "CREATE TABLE one (mine)");
    const some = await run(FIRST, "tenant-*");
    assertEquals(some.code, 1, some.said);
    assertMatch(some.said, /tenant-b: sql_error: /);
    assertMatch(some.said, /, 1 refused\.$/);
    assertEquals(await query("tenant-c", "SELECT * FROM one"), []);
    await query("tenant-a", "CREATE TABLE two (mine)");
    const none = await run(BOTH, "tenant-*");
    assertEquals(none.code, 1, none.said);
    assertMatch(none.said, /No other database was asked\./);
    assertEquals(await query("tenant-c", "SELECT * FROM two"), "sql_error");
  },

  "tells which of them wait for a person": async ({ app, tenant, run }) => {
    const rules = `/api/namespaces/${tenant.slug}/databases/tenant-b/rules`;
    const body = { tableGlob: "*", actions: ["schema"], effect: "require_approval" };
    assertEquals((await app.request("POST", rules, { token: tenant.token, body })).status, 201);
    const { code, said } = await run(FIRST, "tenant-*");
    assertEquals(code, 3, said);
    assertMatch(said, /tenant-b: a rule holds them for a person: http/);
    assertMatch(
      said,
      /Of 3 databases 2 had something to tell, 0 had nothing to do, 1 wait for a person, 0 refused\.$/,
    );
  },

  "says what it was called with where that cannot be": async ({ run }) => {
    assertEquals((await run(FIRST, "tenant-*", "--wait")).code, 2);
    const nobody = await run(FIRST, "nobody-*");
    assertEquals(nobody.code, 1);
    assertMatch(nobody.said, /No database of .* has a name that begins with "nobody-"/);
    assertMatch((await run(FIRST, "No_slug*")).said, /validation_failed/);
  },
});

Deno.test("of databases that fill pages all are asked, each once, and a page that is refused ends it with its words", async () => {
  const pages: Readonly<Record<string, readonly string[]>> = {
    "": ["t-1", "t-2"],
    "two": ["t-3"],
    "three": [],
  };
  const next: Readonly<Record<string, string | null>> = { "": "two", "two": "three", "three": null };
  const run = async (refused: string | null) => {
    const listed: string[] = [];
    const asked: string[] = [];
    const said: string[] = [];
    const code = await migrateMany({
      ...{ service: "http://host", namespace: "ns", prefix: "t-" },
      api: {
        token: "t",
        fetch: (input) => {
          const url = new URL(String(input));
          listed.push(`${url.pathname}${url.search}`);
          const cursor = url.searchParams.get("cursor") ?? "";
          if (cursor === refused) {
            return Promise.resolve(
              Response.json({ success: false, error: "Not now", code: "x" }, { status: 503 }),
            );
          }
          const data = pages[cursor]?.map((slug) => ({ slug }));
          return Promise.resolve(Response.json({ success: true, data, meta: { nextCursor: next[cursor] } }));
        },
      },
      ask: ({ db }) => {
        asked.push(db);
        return Promise.resolve({ success: true });
      },
      words: () => [],
      say: (line) => void said.push(line),
    });
    return { code, listed, asked: asked.toSorted(), said };
  };
  const path = "/api/namespaces/ns/databases?pageSize=500&prefix=t-";
  const all = await run(null);
  assertEquals(all.listed, [path, `${path}&cursor=two`, `${path}&cursor=three`]);
  assertEquals(all.asked, ["1", "2", "3"].map((at) => `http://host/v1/db/ns/t-${at}`));
  assertEquals(all.code, 0);
  const ended = await run("two");
  assertEquals([ended.code, ended.asked], [1, []]);
  assertMatch(ended.said.join(), /Not now/);
});
