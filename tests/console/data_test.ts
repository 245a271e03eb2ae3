// The page of a database's files and migrations, as a browser without script sees it.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { testSteps } from "../testing/cases.ts";
import { signIn } from "../testing/person.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { type ConsoleWorld, consoleWorld, mainOf, plain } from "./console_world.ts";
import { openPage, sendForm } from "./open_page.ts";

const TABLE = '<b>it"s\u202e';
const FILE = "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)";

async function world(app: StartedApp, slug: string): Promise<ConsoleWorld> {
  return await consoleWorld(
    app,
    { slug, page: "data" },
    `CREATE TABLE "${TABLE.replace('"', '""')}" (id INTEGER PRIMARY KEY, body TEXT)`,
    `INSERT INTO "${TABLE.replace('"', '""')}" VALUES (9007199254740993, '=1+1'), (2, '</select>')`,
  );
}

async function migrate({ app, tenant }: ConsoleWorld, name: string, sql: string): Promise<void> {
  const { status, text } = await app.request("POST", `/v1/db/${tenant.slug}/main/migrations`, {
    token: tenant.token,
    body: { files: [{ name, sql }] },
  });
  assertEquals(status, 200, text);
}

testSteps("the page of files and migrations", world, {
  "gives a reader the whole database as a file, by the session alone, and notes who took it": async (
    { app, tenant, path, look },
  ) => {
    const viewer = await signIn(app, { role: "viewer", namespace: tenant.slug });
    const send = (fields: Record<string, string>) =>
      sendForm(app, { path: `${path}/export`, fields, person: viewer });
    const sql = await send({ format: "sql", table: "" });
    assertEquals([sql.status, sql.headers.get("content-disposition")], [
      200,
      'attachment; filename="main.sql"',
    ]);
    assertStringIncludes(sql.text, "9007199254740993");
    const file = await send({ format: "sqlite", table: "" });
    assertEquals([file.status, file.headers.get("cache-control")], [200, "no-store"]);
    assert(file.text.startsWith("SQLite format 3\0"));
    assertEquals(Number(file.headers.get("content-length")) % 512, 0);
    const log = await look(`/console/${tenant.slug}/db/main/log?who=${viewer.id}`);
    assertStringIncludes(plain(log), "-- export as sqlite");
  },
  "has the command that brings a CSV into a table, whatever it is called, and a file into an empty database":
    async (
      { app, tenant, path, look },
    ) => {
      const address = async (page: string) =>
        (/--data-binary @\S+ &quot;https?:\/\/[^/]+(\/\S*?)&quot;/.exec(await look(page))?.[1] ?? "none")
          .replaceAll("&amp;", "&");
      const { status, text } = await app.request("POST", await address(path), {
        token: tenant.token,
        body: "id,body\n7,seven\n",
      });
      assertEquals(status, 200, text);
      const fresh = await tenant.createDatabase("fresh");
      const empty = await address(path.replace("/main/", "/fresh/"));
      assertEquals(empty, `${fresh.path}/import?format=sqlite&mode=create`);
    },
  "gives one table, whatever it is called, and no formula unless the box is unticked": async (
    { path, send, look },
  ) => {
    const page = await look(path);
    assert(!page.includes("<b>it") && !page.includes("\u202e</option>"));
    assertStringIncludes(page, "&lt;b&gt;it&quot;s⟨U+202E⟩</option>");
    const safe = await send(`${path}/export`, { format: "csv", table: TABLE, safe: "yes" });
    assertEquals([safe.status, safe.headers.get("content-disposition")], [
      200,
      'attachment; filename="main--b-it-s-.csv"',
    ]);
    assertStringIncludes(safe.text, "9007199254740993,'=1+1");
    const exact = await send(`${path}/export`, { format: "csv", table: TABLE });
    assertStringIncludes(exact.text, "9007199254740993,=1+1");
    const lines = await send(`${path}/export`, { format: "ndjson", table: TABLE });
    assertEquals(lines.text.trim().split("\n").length, 2);
  },
  "gives the form back with what was chosen and what is wrong": async ({ path, send }) => {
    const none = await send(`${path}/export`, { format: "csv", table: "" });
    assertEquals(none.status, 400);
    assertStringIncludes(none.text, "Choose a table; CSV and NDJSON hold one");
    assertStringIncludes(none.text, '<option value="csv" selected');
    assert(!/name="safe"[^>]*checked/.test(none.text));
    const odd = await send(`${path}/export`, { format: "<exe>", table: "" });
    assertEquals(odd.status, 400);
    assertStringIncludes(odd.text, "Choose what the file is");
    const gone = await send(`${path}/export`, { format: "csv", table: "<i>gone" });
    assert(gone.status >= 400 && gone.status < 500 && !gone.text.includes("<i>gone"), `${gone.status}`);
  },
  "teaches the first migration, then tells each with who applied it, and what has changed since": async (
    here,
  ) => {
    const { path, look, tenant } = here;
    assertStringIncludes(await look(path), "deno task migrate --dir");
    await migrate(here, "0001 notes.sql", FILE);
    await migrate(here, "0002_more.sql", "ALTER TABLE notes ADD COLUMN at TEXT");
    const words = plain(await look(path));
    assertStringIncludes(words, "2 files applied, newest first");
    assert(words.indexOf("0002_more.sql") < words.indexOf("0001 notes.sql"));
    assert(!words.includes("changed since the newest migration"));
    await tenant.setup('CREATE TABLE "<i>aside" (id INTEGER)');
    const drifted = await look(path);
    assertStringIncludes(plain(drifted), "1 definition changed since the newest migration");
    assertStringIncludes(drifted, "<code>&lt;i&gt;aside</code> added");
  },
  "is of the branch that its address names": async (here) => {
    const { app, admin, tenant, path } = here;
    const claimed = await app.request("POST", `/v1/db/${tenant.slug}/main/claim_branch`, {
      token: tenant.token,
      body: { ref: "pr-1", purpose: "Try it", role: "admin" },
    });
    assertEquals(claimed.status, 201, claimed.text);
    await migrate(here, "0001_notes.sql", FILE);
    const branch = await openPage(app, path.replace("/main/", "/main@pr-1/"), admin);
    assertStringIncludes(plain(mainOf(branch.text)), "No migration yet");
    assert(!branch.text.includes(">notes</option>"));
  },
});
