// The overview of a database as a browser without script sees it.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { fixOf } from "../../routes/console/pages/database/finding_fix.ts";
import { oneStore, type Steps, testSteps } from "../testing/cases.ts";
import { signIn, type TestPerson } from "../testing/person.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { openPage, sendForm } from "./open_page.ts";

const { run, test } = oneStore();
Deno.test("overview", run);

interface World {
  readonly app: StartedApp;
  readonly namespace: TestNamespace;
  readonly admin: TestPerson;
  readonly base: string;
}

async function worldOf(app: StartedApp, slug: string): Promise<World> {
  const namespace = await app.namespace(slug);
  const admin = await signIn(app, { role: "admin", namespace: slug });
  return { app, namespace, admin, base: `/console/${slug}/db/main` };
}

const steps: Steps<World> = {
  "an empty database teaches the first statement": async ({ app, admin, base }) => {
    const { text, status } = await openPage(app, base, admin);
    assertEquals(status, 200);
    assert(text.includes("No table yet") && text.includes(`${base}/sql?sql=CREATE+TABLE`));
    assert(!text.includes('<svg viewBox="0 0 0'));
    const endpoints = await openPage(app, `${base}/endpoints`, admin);
    assert(endpoints.text.includes(`href="${base}/tables">Make a table`));
  },
  "tables, rows and references stand there in words and as a picture": async (
    { app, namespace, admin, base },
  ) => {
    await namespace.setup(
      "CREATE TABLE owners (id INTEGER PRIMARY KEY, name TEXT)",
      "CREATE TABLE pets (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES owners (id), parent INTEGER REFERENCES pets (id))",
      "INSERT INTO owners VALUES (1, 'a'), (2, 'b')",
    );
    const { text } = await openPage(app, base, admin);
    assert(
      text.includes("2 rows") && text.includes("pets refers to owners") &&
        text.includes("pets refers to pets"),
    );
    assertMatch(text, new RegExp(`<a href="${base}/tables/pets" class="entity">`));
    assert(!/<svg[^>]*style=|<path[^>]*NaN/.test(text));
  },
  "tables that all refer to each other are drawn one at a time, and soon": async (
    { app, namespace, admin, base },
  ) => {
    const names = Array.from({ length: 40 }, (_, at) => `t${at}`);
    const references = names.flatMap((
      to,
    ) => [`x_${to} REFERENCES ${to} (id)`, `y_${to} REFERENCES ${to} (id)`]);
    await namespace.setup(
      ...names.map((name) => `CREATE TABLE ${name} (id INTEGER PRIMARY KEY, ${references.join(", ")})`),
    );
    const { text, status } = await openPage(app, `${base}?table=t7`, admin);
    assertEquals(status, 200);
    assert(text.includes("t7 and its neighbours"));
    const drawn = text.match(/<title>t\d+ refers to t\d+</g) ?? [];
    assertEquals(drawn.length, 79);
    assert(drawn.every((line) => /\bt7\b/.test(line)), drawn[0]);
  },
  "descriptions are stored where they stand, by an admin only": async ({ app, namespace, admin, base }) => {
    await namespace.setup('CREATE TABLE "a""b" (id INTEGER PRIMARY KEY, "<c>" TEXT)');
    const path = `${base}/descriptions`;
    const csrf = admin.csrfToken;
    const body = new URLSearchParams([
      ...Object.entries({
        csrf,
        table: 'a"b',
        about: "One row\r\na pair",
        "about-0": "",
        "about-1": "A </textarea>",
      }),
      ["column", "id"],
      ["column", "<c>"],
    ]);
    const stored = await app.request("POST", path, {
      headers: { ...admin.headers, "content-type": "application/x-www-form-urlencoded" },
      body: body.toString(),
    });
    assertEquals([stored.status, stored.headers.get("location")], [303, `${base}?saved=a%22b#tables`]);
    assertEquals(
      rowsOf(await namespace.query("SELECT * FROM _service_meta_description ORDER BY column_name")),
      [['a"b', "", "One row\na pair"], ['a"b', "<c>", "A </textarea>"]],
    );
    const whole = { about: "Pets and owners" };
    assertEquals((await sendForm(app, { path, fields: whole, person: admin })).status, 303);
    const { text } = await openPage(app, `${base}?saved=`, admin);
    assert(
      text.includes("Pets and owners") && text.includes("A &lt;/textarea&gt;") && text.includes("are stored"),
    );
    const editor = await signIn(app, { role: "editor", namespace: namespace.slug });
    assertEquals((await sendForm(app, { path, fields: whole, person: editor })).status, 403);
    assert(!(await openPage(app, base, editor)).text.includes("Store the descriptions"));
    const gone = { table: "no such table", about: "x" };
    assertEquals((await sendForm(app, { path, fields: gone, person: admin })).status, 422);
  },
  "each finding has its fix, which is shown before it runs": async ({ app, namespace, admin, base }) => {
    await namespace.setup(
      "CREATE TABLE owners (id INTEGER PRIMARY KEY, label TEXT)",
      "CREATE TABLE pets (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES owners (id))",
    );
    const { text } = await openPage(app, `${base}/findings`, admin);
    assert(text.includes("Propose the fix") && text.includes("Describe it"));
    const sql = /name="sql" value="(CREATE INDEX[^"]*)"/.exec(text)?.[1]?.replaceAll("&quot;", '"') ?? "";
    const fields = { sql, do: "run" };
    const shown = await sendForm(app, { path: `${base}/sql`, fields, person: admin });
    assert(shown.text.includes("This changes the schema"), sql);
    const viewer = await signIn(app, { role: "viewer", namespace: namespace.slug });
    assert(!(await openPage(app, `${base}/findings`, viewer)).text.includes("Propose the fix"));
  },
  "a finding about an endpoint leads to its form, with the gates open": async (
    { app, namespace, admin, base },
  ) => {
    await namespace.setup("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)");
    const api = `/api/namespaces/${namespace.slug}/databases/main/endpoints`;
    const spec = {
      ...{ slug: "add-note", name: "Add", kind: "mutation", method: "POST", output: "rows_written" },
      ...{
        sql: "INSERT INTO notes (body) VALUES (?)",
        input: [{ name: "body", type: "text" }],
        auth: "public",
      },
    };
    for (const [path, body] of [[api, spec], [`${api}/add-note/publish`, {}]] as const) {
      const { status, text } = await app.request("POST", path, { token: namespace.token, body });
      assert(status < 300, text);
    }
    const { text } = await openPage(app, `${base}/findings`, admin);
    const href = /href="([^"]*endpoints\/add-note[^"]*)"/.exec(text)?.[1] ?? "";
    assertEquals(href, `${base}/endpoints/add-note?gates#gates`);
    const page = await openPage(app, href.split("#")[0] ?? "", admin);
    assert(/<details id="gates"[^>]* open/.test(page.text));
  },
  "a schema too large for a picture shows a table and its neighbours": async (
    { app, namespace, admin, base },
  ) => {
    const tables = Array.from(
      { length: 70 },
      (_, at) =>
        `CREATE TABLE t${at} (id INTEGER PRIMARY KEY, up INTEGER REFERENCES t${Math.max(0, at - 1)} (id))`,
    );
    await namespace.batch(tables.map((sql): [string] => [sql]), {
      headers: { "x-service-no-snapshot": "1" },
    });
    const { text } = await openPage(app, `${base}?table=t30`, admin);
    assert(text.includes("t30 and its neighbours"));
    assertEquals([...text.matchAll(/class="entity"/g)].length, 3);
    assert(text.includes('value="t30"') && !text.includes('value="t31"'), "one form at a time");
  },
  "hostile names and descriptions are text in the picture too": async ({ app, namespace, admin, base }) => {
    const name = "</text><script>alert(1)</script>\u202e";
    await namespace.setup(
      `CREATE TABLE "${name}" (id INTEGER PRIMARY KEY, "${name}" TEXT)`,
      'CREATE TABLE "__proto__" (a)',
    );
    const about = "</title><svg onload=alert(1)>\u202e";
    await sendForm(app, { path: `${base}/descriptions`, fields: { about }, person: admin });
    for (const path of [base, `${base}/findings`, `${base}/tables`]) {
      const { text, status } = await openPage(app, path, admin);
      assertEquals(status, 200, path);
      const shown = text.replaceAll(/ (?:data-[\w-]+|value|href)="[^"]*"/g, "").replaceAll(
        /<textarea[^]*?<\/textarea>/g,
        "",
      );
      assertEquals(/<script>alert|<svg onload|\u202e/.test(shown), false, path);
    }
  },
};

testSteps("the overview of a database", worldOf, steps, test);

test("a suggestion is followed by the editor, by a description, or by whoever copies it", () => {
  const batch = JSON.stringify({ statements: [{ sql: "A" }, { sql: "B" }], transaction: true });
  assertEquals(fixOf("CREATE INDEX i ON t (a)"), { kind: "sql", sql: "CREATE INDEX i ON t (a)" });
  assertEquals(fixOf(`POST /v1/db/a/b/batch ${batch}`), { kind: "sql", sql: "A;\nB" });
  assertEquals(fixOf('PUT /v1/db/a/b/describe {"tables":[]}'), { kind: "describe" });
  assertEquals(fixOf("GET /v1/db/a/b/snapshots"), { kind: "call" });
});
