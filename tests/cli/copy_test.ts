// `deno task copy`: a database is moved whole, both sides are proven to hold the same, and a failure leaves the source as it was.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { copy } from "../../lib/cli/copy.ts";
import { type MigrationWorld, migrationWorld } from "../migrations/migration_world.ts";
import { testSteps } from "../testing/cases.ts";
import type { StartedApp } from "../testing/start_app.ts";
import type { TestDatabase } from "../testing/test_namespace.ts";

/** What happens before the database is copied, and before the copy is sent. */
interface Hooks {
  readonly copying?: () => Promise<unknown>;
  readonly sending?: () => Promise<unknown>;
}

interface CopyWorld extends MigrationWorld {
  readonly target: TestDatabase;
  /** Runs the command: its exit code and what it has said. */
  run(args?: readonly string[], hooks?: Hooks): Promise<{ code: number; said: string }>;
  ask(database: TestDatabase, sql: string): Promise<unknown>;
  rules(): Promise<number>;
}

async function copyWorld(app: StartedApp, slug: string): Promise<CopyWorld> {
  const world = await migrationWorld(app, slug);
  const { acme } = world;
  await world.apply([["1_notes.sql", "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT, more)"]]);
  await acme.setup(
    "CREATE VIRTUAL TABLE words USING fts5(body)",
    "CREATE INDEX by_body ON notes (body)",
    "CREATE TRIGGER copied AFTER INSERT ON notes BEGIN INSERT INTO words VALUES (new.body); END",
    "INSERT INTO notes VALUES (1, 'one; two', 9223372036854775807), (2, NULL, x'00ff'), (3, 'a' || char(0) || 'b', 1e999)",
    "PRAGMA user_version = 7",
  );
  const target = await acme.createDatabase("moved");
  const address = ({ path }: TestDatabase) => `http://127.0.0.1${path}`;
  return {
    ...world,
    target,
    run: async (args = [], { copying, sending } = {}) => {
      const lines: string[] = [];
      const code = await copy(["--from", address(acme.database), "--to", address(target), ...args], {
        fromToken: acme.token,
        toToken: acme.token,
        fetch: async (input, init) => {
          if (String(input).includes("format=sqlite")) await (init?.body ? sending?.() : copying?.());
          return await app.app.request(new Request(input, init));
        },
        say: (line) => void lines.push(line),
        ruleMs: 0,
      });
      return { code, said: lines.join("\n") };
    },
    ask: async ({ path }, sql) => {
      const { text } = await app.request("POST", `${path}/query`, { token: acme.token, body: { sql } });
      return JSON.parse(text).data?.rows;
    },
    rules: async () => {
      const { text } = await app.request("GET", `/api/namespaces/${slug}/databases/main/rules`, {
        token: acme.token,
      });
      return JSON.parse(text).data.length;
    },
  };
}

const ALL = "SELECT id, hex(body), typeof(more), quote(more) FROM notes ORDER BY id";

testSteps("a database is moved", copyWorld, {
  "whole, with the records of its migrations, and the source takes no writes any more": async (
    { run, ask, acme, target, app, rules },
  ) => {
    const { code, said } = await run();
    assertEquals(code, 0, said);
    assertMatch(
      said,
      /^The source takes no writes: rule \w+\nMoved .* SHA-256 of both as SQL: [0-9a-f]{64}\nRecorded 1 migrations\./,
    );
    assertEquals(await ask(target, ALL), await ask(acme.database, ALL));
    assertEquals(await ask(target, "SELECT body FROM words('two')"), [["one; two"]]);
    assertEquals(await ask(target, "PRAGMA user_version"), [[7]]);
    const listed = await app.request("GET", `${target.path}/migrations`, { token: acme.token });
    assertEquals(JSON.parse(listed.text).data.map(({ name }: { name: string }) => name), ["1_notes.sql"]);
    const refused = await acme.query("INSERT INTO notes (body) VALUES ('late')");
    assertEquals([refused.body.code, await rules()], ["rule_denied", 1]);
  },
  "also where rows refer to rows that are not there": async ({ run, app, acme, target, ask }) => {
    const loose = "PRAGMA foreign_keys=OFF;\nCREATE TABLE p (id INTEGER PRIMARY KEY);\n" +
      "CREATE TABLE c (p REFERENCES p);\nINSERT INTO c VALUES (7);\n";
    const imported = await app.app.request(
      new Request(`http://127.0.0.1${acme.database.path}/import?format=sql&mode=replace&foreign_keys=off`, {
        method: "POST",
        headers: { authorization: `Bearer ${acme.token}` },
        body: loose,
      }),
    );
    assertEquals(imported.status, 200, await imported.text());
    const { code, said } = await run();
    assertEquals(code, 0, said);
    assertEquals(await ask(target, "SELECT p FROM c"), [[7]]);
  },
  "unless the target has tables: then nothing happens": async ({ run, app, acme, target, rules }) => {
    await app.request("POST", `${target.path}/query`, {
      token: acme.token,
      body: { sql: "CREATE TABLE there (a)" },
    });
    const { code, said } = await run();
    assertEquals([code, said, await rules()], [
      1,
      "Not moved: the target has tables; give a database without any",
      0,
    ]);
  },
  "and a write that comes in between is told": async ({ run, acme, rules }) => {
    const copying = () => acme.query("UPDATE notes SET body = 'other' WHERE id = 1");
    const { code, said } = await run(["--no-freeze"], { copying });
    assertEquals([code, await rules()], [1, 0]);
    assertMatch(said, /^Not moved: the target does not hold what the source held/);
  },
  "with more records of migrations than one call takes": async ({ run, acme, app, target }) => {
    const digest = "0".repeat(64);
    const names = Array.from({ length: 230 }, (_, at) => `${at + 2}_old.sql`);
    const recorded = await app.request("POST", `${acme.database.path}/migrations`, {
      token: acme.token,
      body: { baseline: true, files: names.map((name) => ({ name, sha256: digest })) },
    });
    assertEquals(recorded.status, 200, recorded.text);
    const { code, said } = await run();
    assertEquals(code, 0, said);
    assertMatch(said, /Recorded 231 migrations\./);
    const listed = await app.request("GET", `${target.path}/migrations`, { token: acme.token });
    assertEquals(JSON.parse(listed.text).data.map(({ name }: { name: string }) => name), [
      "1_notes.sql",
      ...names,
    ]);
  },
  "by a later run where one was ended behind its rule, or behind the import, and not where another target is full":
    async ({ run, ask, acme, app, target, rules }) => {
      // As a run leaves it that nothing could stop.
      const made = await app.request("POST", `/api/namespaces/${acme.slug}/databases/main/rules`, {
        token: acme.token,
        body: { tableGlob: "*", effect: "deny", note: "Being moved by deno task copy" },
      });
      assertEquals(made.status, 201, made.text);
      const first = await run();
      assertMatch(first.said, /^The source takes no writes: rule \w+, of an earlier run\nMoved/);
      const second = await run();
      assertMatch(second.said, /\nBoth hold the same; SHA-256 of both as SQL: [0-9a-f]{64}\nRecorded 1 migr/);
      assertEquals([first.code, second.code, await rules()], [0, 0, 1]);
      await app.request("POST", `${target.path}/query`, {
        token: acme.token,
        body: { sql: "DELETE FROM notes WHERE id = 1" },
      });
      const third = await run();
      assertMatch(third.said, /Not moved: the target has tables, and not those of the source/);
      // What was moved before stays frozen.
      assertEquals([third.code, await rules()], [1, 1]);
      assertMatch(third.said, /Delete rule \w+ of the source if it is to take writes\.$/);
      assertEquals(await ask(acme.database, "SELECT count(*) FROM notes"), [[3]]);
    },
  "and a rule that is gone at the end is told, because the source may have been written": async (
    { run, acme, app, rules },
  ) => {
    const path = `/api/namespaces/${acme.slug}/databases/main/rules`;
    const sending = async () => {
      const { text } = await app.request("GET", path, { token: acme.token });
      const [{ id }] = JSON.parse(text).data;
      await app.request("DELETE", `${path}/${id}`, { token: acme.token });
    };
    const { code, said } = await run([], { sending });
    assertEquals([code, await rules()], [1, 0], said);
    assertMatch(said, /Not moved: rule \w+ is gone, so the source may have taken writes/);
  },
  "and an import that fails gives the source back": async ({ run, ask, acme, target, rules }) => {
    const { code, said } = await run([], { sending: () => Promise.reject(new Error("the line is cut")) });
    assertEquals([code, await rules()], [1, 0]);
    assertMatch(
      said,
      /Not moved: the target does not answer: the line is cut\nThe source takes writes again\.$/,
    );
    assertEquals(await ask(target, "SELECT count(*) FROM sqlite_schema WHERE name = 'notes'"), [[0]]);
    assertEquals((await acme.query("INSERT INTO notes (body) VALUES ('goes on')")).status, 200);
  },
});

/** What a service answers whose database is empty, by the end of a request's path. */
const ANSWERS: Readonly<Record<string, () => Response>> = {
  "sqlite": () => new Response("a file"),
  "sql": () => new Response("SELECT 1;\n-- the end\n"),
  "create": () => Response.json({ success: true, data: { tables: 1, rows: 2 } }),
};

Deno.test("everything of a move goes by the proxy that the environment names", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile("deno.json"));
  const seen: string[] = [];
  const sent: string[] = [];
  await using proxy = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const { hostname, pathname, search } = new URL(request.url);
    seen.push(`${request.method} ${hostname}${pathname}${search}`);
    if (request.method === "POST") sent.push(await request.text());
    const end = search.slice(search.lastIndexOf("=") + 1);
    return ANSWERS[end]?.() ?? Response.json({ success: true, data: [] });
  });
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...String(tasks.copy).split(" ").slice(1),
      ...["--from", "http://source.invalid/v1/db/acme/main"],
      ...["--to", "http://target.invalid/v1/db/acme/main", "--no-freeze"],
    ],
    env: {
      CUBBY_FROM_TOKEN: "a",
      CUBBY_TO_TOKEN: "b",
      HTTP_PROXY: `http://127.0.0.1:${proxy.addr.port}`,
      NO_PROXY: "",
    },
  }).output();
  assert(success, new TextDecoder().decode(stdout));
  assertEquals(sent, ["a file"]);
  assertEquals(
    seen.filter((line) => line.includes("port?")),
    [
      "GET source.invalid/v1/db/acme/main/export?format=sql",
      "GET source.invalid/v1/db/acme/main/export?format=sqlite",
      "POST target.invalid/v1/db/acme/main/import?format=sqlite&mode=create&foreign_keys=off",
      "GET target.invalid/v1/db/acme/main/export?format=sql",
    ],
  );
});

Deno.test("the command says what is wrong with how it is called", async () => {
  const said: string[] = [];
  const parts = {
    fromToken: "a",
    toToken: "b",
    fetch,
    say: (line: string) => void said.push(line),
    ruleMs: 0,
  };
  const db = "http://127.0.0.1:1/v1/db/a/b";
  for (
    const args of [[], ["--from", db], ["--from", db, "--to", db], ["--from", db, "--to", `${db}c`, "--x"]]
  ) {
    assertEquals(await copy(args, parts), 2);
  }
  assertEquals(await copy(["--from", db, "--to", `${db}c`], { ...parts, toToken: undefined }), 2);
  assertEquals(said.length, 5);
  // Nothing listens there.
  assertEquals(await copy(["--from", db, "--to", `${db}c`], parts), 1);
  assertMatch(said.at(-1) ?? "", /^Not moved: the source does not answer: /);
});

Deno.test("what a side refuses is told with its reasons", async () => {
  const issues = [{ path: "file", message: "unknown function: regexp()" }];
  const lines: string[] = [];
  const code = await copy(
    [
      "--from",
      "http://source.invalid/v1/db/acme/main",
      "--to",
      "http://target.invalid/v1/db/acme/main",
      "--no-freeze",
    ],
    {
      fromToken: "cub_live_one",
      toToken: "cub_live_other",
      fetch: (input) => {
        const asked = String(input);
        if (asked.includes("/import?")) {
          const refusal = { success: false, error: "Send another file", code: "import_refused", issues };
          return Promise.resolve(Response.json(refusal, { status: 400 }));
        }
        if (asked.includes("/export?")) return Promise.resolve(new Response("\n-- end\n"));
        return Promise.resolve(Response.json({ success: true, data: [] }));
      },
      say: (line) => void lines.push(line),
      ruleMs: 0,
    },
  );
  assertEquals([code, ...lines], [
    1,
    "Not moved: the target says import_refused: Send another file\n  file: unknown function: regexp()",
  ]);
});
