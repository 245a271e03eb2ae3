// `deno task migrate`: folders of the tools go through as they are, and what the service says is told in lines.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { migrate } from "../../lib/cli/migrate.ts";
import { readFolder } from "../../lib/cli/read_folder.ts";
import { type MigrationWorld, migrationWorld } from "../migrations/migration_world.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { testCases, testSteps } from "../testing/cases.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { type ToolFolder, toolFolders, writeFolder } from "./tool_folders.ts";

interface CommandWorld extends MigrationWorld {
  /** Runs the command on a folder: its exit code and what it has said. */
  run(
    files: ToolFolder["files"],
    args: readonly string[],
    token?: string,
    hear?: (line: string) => void,
  ): Promise<{ code: number; said: string }>;
}

async function commandWorld(app: StartedApp, slug: string): Promise<CommandWorld> {
  const world = await migrationWorld(app, slug);
  const db = `http://127.0.0.1${world.acme.database.path}`;
  return {
    ...world,
    run: async (files, args, token = world.acme.token, hear = () => {}) => {
      const folder = await writeFolder(files);
      const lines: string[] = [];
      try {
        const code = await migrate(["--", "--dir", folder, ...args], {
          db,
          token,
          calledIn: undefined,
          fetch: async (input, init) => await app.app.request(input, init),
          say: (line) => {
            lines.push(line);
            hear(line);
          },
        });
        return { code, said: lines.join("\n") };
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  };
}

/** Only the first files of the folder. */
function first({ files }: ToolFolder): ToolFolder["files"] {
  return Object.fromEntries(
    Object.entries(files).filter(([path]) => !/strict|ant\.sql/.test(path)).map((
      [path, text],
    ) => [
      path,
      path === "meta/_journal.json"
        ? JSON.stringify({ entries: JSON.parse(text).entries.slice(0, 1) })
        : text,
    ]),
  );
}

testCases("folders as tools make them are applied, and a rebuilt table keeps its children", {
  cases: toolFolders,
  nameOf: ({ tool }) => tool,
  run: async (app, slug, folder) => {
    const world = await commandWorld(app, slug);
    const begun = await world.run(first(folder), []);
    assertEquals(begun.code, 0, begun.said);
    await world.acme.setup(
      "INSERT INTO users VALUES (1, 'ada'), (2, 'bob')",
      "INSERT INTO posts (id, user_id) VALUES (1, 1), (2, 2)",
    );
    const { code, said } = await world.run(folder.files, []);
    assertEquals(code, 0, said);
    assertEquals(await world.names(), folder.names);
    assertEquals(await world.rows("SELECT (SELECT count(*) FROM users), (SELECT count(*) FROM posts)"), [[
      2,
      2,
    ]]);
    assertEquals(await world.rows("SELECT \"notnull\" FROM pragma_table_info('users') WHERE name = 'name'"), [
      [1],
    ]);
    const again = await world.run(folder.files, []);
    assertMatch(again.said, /Nothing is pending/);
    const status = await world.run(folder.files, ["--status"]);
    assertEquals(status.said.split("\n").length, 2, status.said);
  },
});

const [drizzle] = toolFolders;
assert(drizzle);
const PLAIN = { "1.sql": "CREATE TABLE a (b)", "2.sql": "CREATE TABLE c (d)" };

testSteps("the command", commandWorld, {
  "tries files on a copy": async ({ run, names }) => {
    const { code, said } = await run(PLAIN, ["--dry-run"]);
    assertEquals(code, 0, said);
    assertMatch(said, /would apply 1\.sql\nwould apply 2\.sql\nIt takes \d+ ms on a copy/);
    assertMatch(said, /CREATE TABLE "?c"?/);
    assertEquals(await names(), []);
  },
  "warns of what goes with a table that is made anew": async ({ run }) => {
    const rebuild = {
      "1.sql": "CREATE TABLE a (b); CREATE INDEX of_b ON a (b)",
      "2.sql": "CREATE TABLE c (b); INSERT INTO c SELECT b FROM a; DROP TABLE a; ALTER TABLE c RENAME TO a",
    };
    assertEquals((await run({ "1.sql": rebuild["1.sql"] }, [])).code, 0);
    for (const args of [["--dry-run"], []]) {
      const { code, said } = await run(rebuild, args);
      assertEquals(code, 0, said);
      assertMatch(said, /\nwarning: Make index of_b of a again/);
    }
  },
  "records a baseline up to a file": async ({ run, names, acme }) => {
    await acme.setup("CREATE TABLE a (b)");
    assertEquals((await run(PLAIN, ["--baseline", "1"])).code, 0);
    assertEquals(await names(), ["1.sql"]);
    assertEquals((await run(PLAIN, [])).said.split("\n")[0], "applied 2.sql");
    assertMatch((await run(PLAIN, ["--status"])).said, /^recorded 1\.sql .*\napplied {2}2\.sql/);
    assertEquals((await run(PLAIN, ["--baseline", "nothing"])).code, 2);
  },
  "tells which file and line has failed, and ends with 1": async ({ run, names }) => {
    const { code, said } = await run({ ...PLAIN, "3.sql": "SELECT 1;\n\nSELEC 2;" }, []);
    assertEquals(code, 1);
    assertMatch(said, /^applied 1\.sql\napplied 2\.sql\nsql_error: 3\.sql, line 3: /);
    assertEquals(await names(), ["1.sql", "2.sql"]);
  },
  "tells whom to ask where a rule holds the files, and waits for it": async ({ run, app, acme, names }) => {
    const api = `/api/namespaces/${acme.slug}`;
    await acme.setup("CREATE TABLE a (b)");
    await app.request("POST", `${api}/databases/main/rules`, {
      token: acme.token,
      body: { tableGlob: "a", effect: "require_approval" },
    });
    const files = { "1.sql": "DELETE FROM a" };
    const held = await run(files, []);
    assertEquals(held.code, 3, held.said);
    const id = held.said.split("/").at(-1);
    const waiting = run(files, ["--wait"]);
    const approved = await app.request("POST", `${api}/approvals/${id}/approve`, {
      token: app.operatorKey,
      body: { look: 0 },
    });
    assertEquals(approved.status, 200, approved.text);
    assertMatch((await waiting).said, /applied 1\.sql/);
    assertEquals(await names(), ["1.sql"]);
    let denied: Promise<ApiAnswer> | undefined;
    const refused = await run({ ...files, "2.sql": "DELETE FROM a" }, ["--wait"], acme.token, (line) => {
      const path = `${api}/approvals/${line.split("/").at(-1)}/deny`;
      denied ??= app.request("POST", path, { token: app.operatorKey });
    });
    assertEquals([(await denied)?.status, refused.code], [200, 1], refused.said);
    assertMatch(refused.said, /denied/);
    assertEquals(await names(), ["1.sql"]);
  },
  "says what is wrong with how it is called": async ({ run, acme }) => {
    for (const args of [["--drop"], ["--dry-run", "--status"], ["--db", "http://x/y"]]) {
      const { code, said } = await run(PLAIN, args);
      assertEquals(code, 2, said);
      assertMatch(said, /deno task migrate --dir FOLDER/);
    }
    assertEquals((await run(PLAIN, [], "")).code, 2);
    assertMatch((await run(PLAIN, [], `${acme.token}x`)).said, /invalid_bearer/);
    assertMatch((await run({ "readme.md": "" }, [])).said, /No migration files/);
    assertMatch(
      (await run({ "meta/_journal.json": journalOf("postgresql") }, [])).said,
      /are for postgresql/,
    );
    assertMatch((await run({ "meta/_journal.json": journalOf("sqlite") }, [])).said, /gone\.sql is missing/);
  },
});

function journalOf(dialect: string): string {
  return JSON.stringify({ dialect, entries: [{ idx: 0, tag: "gone" }] });
}

Deno.test("a folder that is not there, and a file that is not UTF-8, are told", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeFile(`${folder}/1.sql`, new Uint8Array([0xff, 0xfe]));
  const said = async (path: string) => await readFolder(path).then(() => "", (error: Error) => error.message);
  assertMatch(await said(`${folder}/none`), /^There is no folder/);
  assertMatch(await said(folder), /is not UTF-8/);
  await Deno.remove(folder, { recursive: true });
});
