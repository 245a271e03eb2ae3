// The SQL page as a browser without script uses it.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Steps, testSteps } from "../testing/cases.ts";
import { signIn, type TestPerson } from "../testing/person.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { mainOf, plain } from "./console_world.ts";
import { openPage, sendForm } from "./open_page.ts";

interface World {
  readonly app: StartedApp;
  readonly namespace: TestNamespace;
  readonly admin: TestPerson;
  readonly page: string;
  /** Sends the page's form. */
  send(fields: Readonly<Record<string, string>>, person?: TestPerson): Promise<string>;
  /** The value of a hidden field of a page. */
  hidden(text: string, name: string): string;
}

async function worldOf(app: StartedApp, slug: string): Promise<World> {
  const namespace = await app.namespace(slug);
  await namespace.setup(
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, big INTEGER, status TEXT, label BLOB)",
    "INSERT INTO orders VALUES (1, 9007199254740993, 'paid', x'00ff'), (2, -5, NULL, NULL), (3, 7, '', NULL)",
  );
  const admin = await signIn(app, { role: "admin", namespace: slug });
  const page = `/console/${slug}/db/main/sql`;
  return {
    ...{ app, namespace, admin, page },
    send: async (fields, person = admin) => (await sendForm(app, { path: page, fields, person })).text,
    hidden: (text, name) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? "",
  };
}

const steps: Steps<World> = {
  "a read shows its rows exactly: large integers, blobs by size, NULL": async ({ send }) => {
    const text = await send({ sql: "SELECT * FROM orders ORDER BY id", do: "run" });
    for (const shown of ["9007199254740993", "2 bytes", ">NULL<", "empty text", "Rows 1 to 3 of 3"]) {
      assert(text.includes(shown), shown);
    }
  },
  "every statement's result is kept, also where a later one fails, with a mark at what is wrong": async (
    { send },
  ) => {
    const sql = "SELECT 'first' AS a;\nSELECT 'second' AS b; SELECT nme FROM orders";
    const text = await send({ sql, do: "run" });
    assert(text.includes("first") && text.includes("second"));
    assert(text.includes("Statement 3: no such column: nme"));
    assertMatch(text, /<mark class="sql-failed">nme<\/mark>/);
    assert(text.includes(`data-failed-from="${sql.indexOf("nme")}"`));
    assert(text.includes("SELECT &#39;second&#39; AS b; SELECT nme FROM orders"), "what was typed stays");
  },
  "a text of more placeholders than can be filled in gets a hundred fields, and is told to use the API":
    async (
      { app, admin, page, send },
    ) => {
      const sql = "SELECT ?, ?;".repeat(2000);
      const fieldsOf = (text: string) => text.match(/ name="value-/g)?.length;
      assertEquals(fieldsOf(await send({ sql, do: "run" })), 100);
      const headers = { "hx-request": "true" };
      const checked = await sendForm(app, { path: `${page}/check`, fields: { sql }, person: admin, headers });
      assertEquals(fieldsOf(checked.text), 100);
      const one = { sql: `SELECT ${"?, ".repeat(100)}?` };
      assertMatch(
        plain(await send({ ...one, do: "run" })),
        /Use at most 100 placeholders here; the API takes more/,
      );
      const fields = { ...one, format: "csv" };
      for (let place = 0; place <= 100; place++) Object.assign(fields, { [`value-0-${place}`]: "a" });
      const download = await sendForm(app, { path: `${page}/download`, fields, person: admin });
      assertEquals(download.status, 400);
      assertMatch(download.text, /Use at most 100 placeholders here/);
    },
  "a text that does what hardly anybody means is warned about, read or written": async ({ send, hidden }) => {
    const read = await send({ sql: "SELECT CAST('abc' AS UUID)", do: "run" });
    assert(read.includes("CAST(… AS UUID) makes a number"), read);
    const sql = "CREATE TABLE serials (id SERIAL PRIMARY KEY)";
    const execution = hidden(await send({ sql, do: "run" }), "execution");
    const done = await send({ sql, do: "apply", execution });
    assert(done.includes("id stays NULL where an INSERT leaves it out"), done);
  },
  "what keeps a text from running is told under the editor in the engine's words": async ({ send }) => {
    const line = async (sql: string) =>
      /id="cost"[^]*?<span>([^<]*)<\/span>/.exec(await send({ sql, do: "run" }))?.[1];
    assertEquals(await line("DROP INDEX gone"), "no such index: gone");
    assertMatch(
      await line("CREATE TABLE orders (id INT)") ?? "",
      /^table orders already exists\. Write IF NOT/,
    );
    assertMatch(await line("SELECT nme FROM orders") ?? "", /^no such column: nme\. Check the name of nme;/);
    assertEquals(await line("VACUUM"), "VACUUM is not available to any role");
  },
  "a text whose session ended while it was typed is back in the editor behind the sign-in, and has not run":
    async (
      { app, admin, page },
    ) => {
      const sql = "SELECT 'of before' || 'the end'";
      const answer = await sendForm(app, { path: `${page}/check`, fields: { sql }, person: admin });
      assertEquals(answer.status, 200);
      assert(answer.text.startsWith("<!doctype html>"), answer.text.slice(0, 200));
      assertMatch(
        answer.text,
        /<textarea[^>]*>SELECT &#39;of before&#39; \|\| &#39;the end&#39;<\/textarea>/,
      );
      assert(!answer.text.includes("Rows 1"), "it has run");
    },
  "a long result comes page by page, and says so without counting it": async ({ send }) => {
    const sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 450) SELECT i FROM n";
    const first = await send({ sql, do: "run" });
    assert(first.includes("Rows 1 to 200<") && first.includes("Next rows"));
    const last = await send({ sql, do: "from-400" });
    assert(last.includes("Rows 401 to 450 of 450") && !last.includes("Next rows"));
    const wide = `SELECT i, hex(zeroblob(5000)) AS text FROM (${sql})`;
    const few = await send({ sql: wide, do: "run" });
    assert(
      few.includes("Rows 1 to 20<") && few.includes('value="from-20"'),
      "a page of them would be too large",
    );
    assert((await send({ sql: wide, do: "from-20" })).includes("Rows 21 to 40<"));
    const own = await send({ sql: "SELECT 1 AS a, 2 AS a FROM orders ORDER BY id LIMIT 2", do: "run" });
    assert(own.includes("Rows 1 to 2 of 2"), "a LIMIT of its own stays");
    assert((await send({ sql: "VALUES (1), (2)", do: "run" })).includes("Rows 1 to 2 of 2"));
  },
  "what takes no LIMIT comes page by page too, and of many statements each has a short page": async (
    { send },
  ) => {
    const plan = `EXPLAIN ${Array(200).fill("SELECT 1").join(" UNION ALL ")}`;
    const first = await send({ sql: plan, do: "run" });
    assert(first.includes("Rows 1 to 200<") && first.includes("Next rows"));
    assert((await send({ sql: plan, do: "from-200" })).includes("Rows 201 to 400<"));
    const sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 30) SELECT i FROM n";
    const five = await send({ sql: Array(5).fill(sql).join(";"), do: "run" });
    assertEquals(five.split("Rows 1 to 30 of 30").length, 6);
    const six = await send({ sql: Array(6).fill(sql).join(";"), do: "run" });
    assertEquals(six.split("Rows 1 to 20<").length, 7);
  },
  "values have types, and a wrong one is said beside its field": async ({ send }) => {
    const sql = "SELECT typeof(?1) AS t, ?1 = big AS same FROM orders WHERE id = ?2";
    const asked = await send({ sql, do: "run" });
    assert(asked.includes("2 values are missing or wrong") && asked.includes('name="value-0-1"'));
    const typed = { "value-0-0": "9007199254740993", "type-0-0": "integer", "value-0-1": "1" };
    const ran = await send({ sql, do: "run", ...typed, "type-0-1": "integer" });
    assertMatch(ran, />integer<\/td><td class="n">1<\/td>/);
    const wrong = await send({ sql, do: "run", ...typed, "value-0-1": "one", "type-0-1": "integer" });
    assert(wrong.includes("Write a whole number in digits") && wrong.includes('value="one"'));
  },
  "a write shows its exact rows, changes nothing, and runs once when a person says so": async (world) => {
    const { send, namespace, hidden } = world;
    const sql = "UPDATE orders SET status = 'void' WHERE id < 3";
    const shown = await send({ sql, do: "run" });
    assert(shown.includes("This would change 2 rows") && shown.includes("Change 2 rows"));
    assert(shown.includes('data-label="status before"') && shown.includes(">void<"));
    const before = rowsOf(await namespace.query("SELECT status FROM orders ORDER BY id"));
    assertEquals(before, [["paid"], [null], [""]]);
    const execution = hidden(shown, "execution");
    const done = await send({ sql, do: "apply", execution });
    assert(done.includes("Done: 2 rows written"));
    assertMatch(done, /id="cost"[^>]*><\/span>/);
    assert((await send({ sql, do: "apply", execution })).includes("Propose again"), "once");
    assertEquals(rowsOf(await namespace.query("SELECT count(*) FROM orders WHERE status = 'void'")), [[2]]);
  },
  "several statements that write run all or none": async ({ send, namespace, hidden }) => {
    const sql = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes (text) VALUES (?)";
    const fields = { sql, "value-1-0": "kept", "type-1-0": "text" };
    const shown = await send({ ...fields, do: "run" });
    assert(shown.includes("2 statements, all or none"));
    const done = await send({ ...fields, do: "apply", execution: hidden(shown, "execution") });
    assert(done.includes("Done"), done);
    assertEquals(rowsOf(await namespace.query("SELECT text FROM notes")), [["kept"]]);
  },
  "a held write leads to its approval and runs from here once it is approved": async (world) => {
    const { app, send, namespace, hidden, admin } = world;
    const api = `/api/namespaces/${namespace.slug}`;
    const rule = { tableGlob: "orders", actions: ["delete"], effect: "require_approval" };
    await app.request("POST", `${api}/databases/main/rules`, { token: namespace.token, body: rule });
    const sql = "DELETE FROM orders WHERE id = 1";
    const shown = await send({ sql, do: "run" });
    assert(shown.includes("Ask for approval of 1 row") && !shown.includes("Change 1 row"));
    const held = await send({ sql, do: "apply", execution: hidden(shown, "execution") });
    assert(held.includes("A rule holds this write"));
    const approval = hidden(held, "approval");
    const id = /approvals\/(apr_\w+|[a-z]+_\w+)"/.exec(held)?.[1] ?? "";
    const early = await send({ sql, do: "redeem", approval });
    assert(early.includes("A rule holds this write") && hidden(early, "approval") === approval);
    const approved = await app.request("POST", `${api}/approvals/${id}/approve`, {
      headers: admin.headers,
      body: {},
    });
    assertEquals(approved.status, 200, approved.text);
    assert((await send({ sql, do: "redeem", approval })).includes("Done: 1 row written"));
  },
  "a write that a rule denies says so, and has nothing to press": async ({ app, send, namespace }) => {
    await namespace.setup("CREATE TABLE ledger (id INTEGER PRIMARY KEY)", "INSERT INTO ledger VALUES (1)");
    const rule = { tableGlob: "ledger", effect: "deny" };
    const path = `/api/namespaces/${namespace.slug}/databases/main/rules`;
    await app.request("POST", path, { token: namespace.token, body: rule });
    const shown = await send({ sql: "DELETE FROM ledger WHERE id = 1", do: "run" });
    assert(shown.includes("This would change 1 row") && shown.includes("A rule denies this write"));
    assert(!shown.includes('name="execution"'));
  },
  "a viewer reads and writes nothing": async ({ app, namespace, send }) => {
    const viewer = await signIn(app, { role: "viewer", namespace: namespace.slug });
    assert((await send({ sql: "SELECT count(*) FROM orders", do: "run" }, viewer)).includes("Rows 1 to 1"));
    const refused = await send({ sql: "DELETE FROM orders", do: "run" }, viewer);
    assert(refused.includes("role write") && !refused.includes('name="execution"'));
  },
  "the plan shows each step and what reads a whole table": async ({ send, namespace }) => {
    const text = await send({ sql: "SELECT * FROM orders WHERE status = 'paid'", do: "plan" });
    assert(text.includes("SCAN orders") && text.includes("reads the whole table"));
    assert(!(await send({ sql: "SELECT * FROM orders WHERE id = 1", do: "plan" })).includes("whole table"));
    await namespace.setup(
      "CREATE INDEX by_status ON orders (status)",
      "CREATE VIRTUAL TABLE words USING fts5(a)",
    );
    const plan = async (sql: string) => await send({ sql, do: "plan" });
    const byIndex = await plan("SELECT status FROM orders ORDER BY status");
    assert(
      byIndex.includes("COVERING INDEX by_status") && byIndex.includes("whole table"),
      "all of an index",
    );
    const found = await plan("SELECT * FROM words WHERE words MATCH 'x'");
    assert(found.includes("SCAN words") && !found.includes("whole table"), "rows that a word finds");
  },
  "history lists what one has typed oneself, without values and without the page's LIMIT": async (world) => {
    const { app, admin, namespace, send, page } = world;
    const sql = "SELECT status FROM orders WHERE id = ?";
    await send({ sql, do: "run", "value-0-0": "31337", "type-0-0": "integer" });
    await namespace.query("SELECT 'somebody else'");
    await send({ sql: "SELECT 7 AS a; SELECT id FROM orders LIMIT 1", do: "run" });
    await openPage(app, page.replace(/sql$/, "tables/orders"), admin);
    const { text } = await openPage(app, `${page}?history`, admin);
    assert(text.includes(`sql?${new URLSearchParams({ sql })}`));
    const both = new URLSearchParams({ sql: "SELECT 7 AS a;\nSELECT id FROM orders LIMIT 1" });
    assert(text.includes(`sql?${both}`) && !text.includes("typeof"), "looks at tables are no history");
    assert(
      !text.includes("31337") && !text.includes("somebody else") && !text.includes("a page of the result"),
    );
  },
  "what the script asks for is the piece with the outcome: results, plans, proposals, failures": async (
    { app, admin, page },
  ) => {
    const texts = [
      ["SELECT 1 AS one; SELECT 2 AS two", "run", /id="result-1"/],
      ["SELECT 1", "plan", /Plan/],
      ["UPDATE orders SET id = id", "run", /Change/],
      ["SELECT nothing", "run", /nothing/],
    ] as const;
    for (const [sql, act, shows] of texts) {
      const { status, text } = await sendForm(app, {
        path: page,
        fields: { sql, do: act },
        person: admin,
        headers: { "hx-request": "true" },
      });
      assertEquals(status, 200, sql);
      assertMatch(text, /^<div id="outcome"/);
      assertMatch(text, shows);
      assert(!text.includes("[object") && !text.includes("<html"), sql);
    }
  },
  "what fails where a script waits for a part of the page takes the place of that part alone": async (
    { app, admin, page },
  ) => {
    const failing = {
      path: page.replace("/main/", "/gone/"),
      fields: { sql: "SELECT 1", do: "run" },
      person: admin,
    };
    const send = (headers: Readonly<Record<string, string>>) => sendForm(app, { ...failing, headers });
    const scripted = await send({ "hx-request": "true", "hx-target": "div#outcome" });
    assertEquals([scripted.status, scripted.headers.get("hx-retarget")], [404, null]);
    assertMatch(scripted.text, /^<div id="outcome"[^>]*><div class="notice bad" role="alert">/);
    for (const target of ["", "body", 'div#x"><script>', "div#outcome div"]) {
      const whole = await send({ "hx-request": "true", "hx-target": target });
      assertEquals([whole.status, whole.headers.get("hx-retarget")], [404, "body"], target);
      assert(whole.text.includes("<html"), target);
    }
  },
  "a statement that is published leads to the form of an endpoint, with script and without": async (
    { app, admin, page },
  ) => {
    const fields = { sql: "SELECT ?", do: "publish" };
    const to = `${page.replace(/sql$/, "endpoints/-/new")}?sql=SELECT+%3F`;
    const plain = await sendForm(app, { path: page, fields, person: admin });
    assertEquals([plain.status, plain.headers.get("location")], [303, to]);
    // What the script sends must not be led there itself: it would put that page into this one.
    const scripted = await sendForm(app, {
      path: page,
      fields,
      person: admin,
      headers: { "hx-request": "true" },
    });
    assertEquals([scripted.status, scripted.headers.get("hx-redirect"), scripted.text], [200, to, ""]);
  },
  "a spreadsheet that opens the CSV runs no formula that somebody has stored, and JSON has it as it is":
    async (
      { app, admin, page },
    ) => {
      const texts = [
        "=1+1",
        "+cmd|x",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        " =1",
        "\uff1d1",
        "-12.5",
        "+4",
        "a=b",
        "-",
      ];
      const rows = texts.map((text) => `('${text}')`).join(", ");
      const sql = `SELECT column1 AS "=head" FROM (VALUES ${rows})`;
      const path = `${page}/download`;
      const csv = await sendForm(app, { path, fields: { sql, format: "csv" }, person: admin });
      assertEquals(csv.text.split("\r\n"), [
        ...["'=head", "'=1+1", "'+cmd|x", "'-2+3", "'@SUM(A1)", "'\t=1", "' =1", "'\uff1d1"],
        ...["-12.5", "+4", "a=b", "'-", ""],
      ]);
      const json = await sendForm(app, { path, fields: { sql, format: "json" }, person: admin });
      for (const text of texts) assert(json.text.includes(JSON.stringify(text)));
    },
  "CSV and JSON hold the whole result, exact and uncut": async ({ app, admin, page }) => {
    const long = "x".repeat(5000);
    const sql = `SELECT id, big, status, label, '${long}' AS "a,b" FROM orders ORDER BY id`;
    const path = `${page}/download`;
    const csv = await sendForm(app, { path, fields: { sql, format: "csv" }, person: admin });
    assertEquals(csv.headers.get("content-type"), "text/csv; charset=utf-8");
    assertEquals(csv.text.split("\r\n"), [
      'id,big,status,label,"a,b"',
      `1,9007199254740993,paid,\\x00ff,${long}`,
      `2,-5,,,${long}`,
      `3,7,"",,${long}`,
      "",
    ]);
    const json = await sendForm(app, { path, fields: { sql, format: "json" }, person: admin });
    assertEquals(JSON.parse(json.text).rows[0].slice(0, 3), [1, "9007199254740993", "paid"]);
    const write = { sql: "DELETE FROM orders RETURNING *", format: "csv" };
    assertEquals((await sendForm(app, { path, fields: write, person: admin })).status, 400);
  },
  "hostile names and values are text": async ({ app, admin, namespace, send, page }) => {
    const name = `<img src=x onerror="alert(1)">\u202e`;
    const quoted = `"${name.replaceAll('"', '""')}"`;
    await namespace.setup(`CREATE TABLE ${quoted} (${quoted} TEXT, "</textarea><script>" TEXT)`);
    await namespace.query(`INSERT INTO ${quoted} VALUES (?, ?)`, [
      "</script><b>\u0007",
      "javascript:alert(1)",
    ]);
    const shown = await send({ sql: `SELECT *, '"><svg onload=x>' FROM ${quoted}`, do: "run" });
    const { text } = await openPage(app, page, admin);
    for (const html of [shown, text]) {
      const shownText = withoutField(html);
      for (const raw of ["<img", "<svg onload", "<b>⟨", "</textarea><script>", "\u202e", "\u0007"]) {
        assertEquals(shownText.includes(raw), false, raw);
      }
    }
    assert(shown.includes("⟨U+0007⟩"));
  },
};

/** The text area and the data of scripts hold what was typed, escaped but exact. */
function withoutField(html: string): string {
  return html.replace(/<textarea[^]*?<\/textarea>/, "").replaceAll(/ (?:data-\w+|value|href)="[^"]*"/g, "");
}

testSteps("the SQL page", worldOf, steps);

Deno.test("a write that takes too long to be tried is not shown as a change of the schema", async () => {
  await using app = await startApp({ settings: { QUERY_TIMEOUT_MS: "2500" } });
  const { send, hidden } = await worldOf(app, "acme");
  const sql = "INSERT INTO orders (big) WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) " +
    "SELECT i FROM c";
  const shown = await send({ sql, do: "run" });
  assert(shown.includes("What this would change is not known"), plain(mainOf(shown)));
  assert(hidden(shown, "execution").startsWith("pmut_"));
  assertEquals(shown.includes("the schema"), false);
});
