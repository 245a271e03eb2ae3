// The table browser as a browser without script uses it.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Steps, testSteps } from "../testing/cases.ts";
import { signIn, type TestPerson } from "../testing/person.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { openPage, sendForm } from "./open_page.ts";

interface World {
  readonly app: StartedApp;
  readonly namespace: TestNamespace;
  readonly admin: TestPerson;
  readonly base: string;
  open(path: string, person?: TestPerson): Promise<string>;
  send(path: string, fields: Readonly<Record<string, string>>, person?: TestPerson): Promise<Sent>;
}

interface Sent {
  readonly status: number;
  readonly text: string;
  readonly location: string | null;
}

const BIG = "9007199254740993";

async function worldOf(app: StartedApp, slug: string): Promise<World> {
  const namespace = await app.namespace(slug);
  await namespace.setup(
    "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, rank, note TEXT)",
    "CREATE TABLE pets (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES people (id) ON DELETE CASCADE)",
    "INSERT INTO people WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 250) " +
      "SELECT i, 'name ' || (i % 7), CASE WHEN i % 50 = 0 THEN NULL ELSE i % 5 END, NULL FROM n",
    `INSERT INTO people VALUES (${BIG}, 'large', 9, 'first'), (${BIG} - 1, 'neighbour', 9, 'second')`,
    `INSERT INTO pets VALUES (1, 3), (2, 3), (3, ${BIG})`,
  );
  const admin = await signIn(app, { role: "admin", namespace: slug });
  const base = `/console/${slug}/db/main/tables`;
  return {
    ...{ app, namespace, admin, base },
    open: async (path, person = admin) => (await openPage(app, base + path, person)).text,
    send: async (path, fields, person = admin) => {
      const { status, text, headers } = await sendForm(app, { path: base + path, fields, person });
      return { status, text, location: headers.get("location") };
    },
  };
}

/** Hidden and other fields of the page's forms, by name. */
function fieldsOf(html: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (
    const [, name = "", value = ""] of html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)
  ) {
    fields[name] = plain(value);
  }
  for (
    const [, name = "", text = ""] of html.matchAll(/<textarea[^>]* name="([^"]+)"[^>]*>([^]*?)<\/textarea>/g)
  ) {
    fields[name] = plain(text.replace(/^\n/, ""));
  }
  for (const [, name = "", options = ""] of html.matchAll(/<select name="([^"]+)"[^>]*>([^]*?)<\/select>/g)) {
    fields[name] = /value="([^"]*)" selected/.exec(options)?.[1] ?? "";
  }
  return fields;
}

function plain(text: string): string {
  return text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll(
    "&gt;",
    ">",
  )
    .replaceAll("&amp;", "&");
}

/** The keys of the rows that a page links to, in order. */
function keysOf(html: string): string[] {
  return [...html.matchAll(/data-row="" href="([^"]*)"/g)].map(([, href = ""]) =>
    new URL(plain(href), "http://x").searchParams.get("row") ?? ""
  );
}

function nextOf(html: string): string | null {
  const href = /href="([^"]*)">Next rows/.exec(html)?.[1];
  return href === undefined ? null : plain(href);
}

async function walk({ app, admin, open }: World, first: string): Promise<string[]> {
  let html = await open(first);
  const keys = keysOf(html);
  for (let next = nextOf(html); next !== null; next = nextOf(html)) {
    html = (await openPage(app, next, admin)).text;
    keys.push(...keysOf(html));
  }
  return keys;
}

const steps: Steps<World> = {
  "spaces at the ends of a value are seen, also where they are all that changes": async (
    { open, namespace },
  ) => {
    await namespace.query("UPDATE people SET note = ' first  ' WHERE name = 'large'");
    const page = await open("/people?sort=id&dir=desc");
    assert(page.includes(">␣first␣␣<"), page.slice(-3000));
    await namespace.query("UPDATE people SET note = 'first' WHERE name = 'large'");
  },
  "a space of another kind, and a letter without ink, are not taken for a space or for nothing": async (
    { open, namespace },
  ) => {
    await namespace.query("UPDATE people SET note = 'no\u00A0break\u3164' WHERE name = 'large'");
    const page = await open("/people?sort=id&dir=desc");
    assert(page.includes(">no⟨U+00A0⟩break⟨U+3164⟩<"), page.slice(-3000));
    await namespace.query("UPDATE people SET note = 'first' WHERE name = 'large'");
  },
  "a filter finds numbers in a column of ANY, which converts nothing in a STRICT table": async (
    { open, namespace },
  ) => {
    await namespace.setup(
      "CREATE TABLE kept (id INTEGER PRIMARY KEY, v ANY) STRICT",
      "INSERT INTO kept VALUES (1, 5), (2, 7.5), (3, 'five')",
    );
    for (const [value, id] of [["5", 1], ["7.5", 2], ["five", 3]]) {
      assertEquals(keysOf(await open(`/kept?f=v&o=eq&v=${value}`)), [`[${id}]`], String(value));
    }
    await namespace.query("DROP TABLE kept");
  },
  "the list of tables counts no further than it has to": async ({ open, namespace }) => {
    await namespace.query(
      "INSERT INTO pets WITH RECURSIVE n (i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n LIMIT 10500) SELECT i, 1 FROM n",
    );
    const text = await open("");
    assert(text.includes("10,000+") && text.includes("252"));
  },
  "pages follow each other by key and show every row once, whatever the order": async (world) => {
    const { namespace } = world;
    for (const search of ["", "?sort=name", "?sort=rank", "?sort=rank&dir=desc", "?sort=id&dir=desc"]) {
      const keys = await walk(world, `/people${search}`);
      const [, column = "id", desc = ""] = /sort=(\w+)(?:&dir=(desc))?/.exec(search) ?? [];
      const order = `"${column}" ${desc}, id ${desc}`;
      const expected = rowsOf(await namespace.query(`SELECT id FROM people ORDER BY ${order}`));
      const told = keys.map((key) => {
        const [value] = JSON.parse(key);
        return typeof value === "object" ? value.$integer : String(value);
      });
      assertEquals(told, expected.map(([id]) => String(id)), search);
    }
  },
  "filters stand in the address, combine, and are text to the engine": async ({ open }) => {
    const of = (...filters: [string, string, string][]) =>
      `/people?${new URLSearchParams(filters.flatMap(([f, o, v]) => [["f", f], ["o", o], ["v", v]]))}`;
    assertEquals(keysOf(await open(of(["name", "has", "NEIGH"]))).length, 1);
    assertEquals(keysOf(await open(of(["id", "gt", "240"], ["rank", "null", ""]))), ["[250]"]);
    assertEquals(keysOf(await open(of(["rank", "eq", "9"]))).length, 2, "a column without a type");
    assertEquals(keysOf(await open(of(["id", "eq", BIG]))), [`[{"$integer":"${BIG}"}]`]);
    for (const text of ["' OR 1=1 --", "%", "_", "\\"]) {
      assertEquals(keysOf(await open(of(["name", "has", text]))), [], text);
    }
    assertEquals(keysOf(await open(of(["no such column", "eq", "1"]))).length, 100);
  },
  "a change names the exact key of the row, shows it first, and leaves the neighbour alone": async (
    world,
  ) => {
    const { open, send, namespace } = world;
    const row = `[{"$integer":"${BIG}"}]`;
    const form = fieldsOf(await open(`/people?row=${encodeURIComponent(row)}`));
    assertEquals([form["value-0"], form["type-0"], form["value-3"]], [BIG, "integer", "first"]);
    const shown = await send("/people/row", { ...form, "value-3": "changed", do: "update" });
    assert(shown.text.includes(`id = ${BIG}`) && shown.text.includes("Exactly one row"), shown.text);
    assertEquals(rowsOf(await namespace.query("SELECT count(*) FROM people WHERE note = 'changed'")), [[0]]);
    const done = await send("/people/row", { ...fieldsOf(shown.text), do: "apply" });
    assertEquals([done.status, done.location], [303, `${world.base}/people?done=updated`]);
    assertEquals(rowsOf(await namespace.query("SELECT note FROM people WHERE rank = 9 ORDER BY id")), [
      ["second"],
      ["changed"],
    ]);
  },
  "a row that has changed since is not overwritten": async ({ open, send, namespace }) => {
    const form = fieldsOf(await open("/people?row=[5]"));
    await namespace.query("UPDATE people SET note = 'theirs' WHERE id = 5");
    const late = await send("/people/row", { ...form, "value-3": "mine", "type-3": "text", do: "update" });
    assertEquals(late.status, 422);
    assert(late.text.includes("somebody else has changed it") && late.text.includes("mine"));
    const fresh = fieldsOf(await open("/people?row=[5]"));
    const shown = await send("/people/row", { ...fresh, "value-3": "mine", do: "update" });
    await namespace.query("UPDATE people SET note = 'theirs again' WHERE id = 5");
    const applied = await send("/people/row", { ...fieldsOf(shown.text), do: "apply" });
    assertEquals(applied.status, 409);
    assert(
      applied.text.includes("not as it was shown any more") && applied.text.includes(">\nmine<"),
      applied.text,
    );
    assertEquals(rowsOf(await namespace.query("SELECT note FROM people WHERE id = 5")), [["theirs again"]]);
    // The form that has come back knows the row as it is by now.
    const again = await send("/people/row", { ...fieldsOf(applied.text), do: "update" });
    assert(again.text.includes("theirs again") && again.text.includes(">mine<"), again.text);
  },
  "whoever looks at a change can go on typing": async ({ open, send }) => {
    const form = fieldsOf(await open("/people?row=[5]"));
    const shown = await send("/people/row", {
      ...form,
      "value-3": " kept\r\nso ",
      "type-3": "text",
      do: "update",
    });
    const back = await send("/people/row", { ...fieldsOf(shown.text), do: "edit" });
    assertEquals([back.status, fieldsOf(back.text)["value-3"]], [200, " kept\nso "]);
    const fresh = await send("/people/row", {
      ...fieldsOf(await open("/people?new")),
      "value-1": "new",
      do: "insert",
    });
    const anew = await send("/people/row", { ...fieldsOf(fresh.text), do: "edit" });
    assertEquals([anew.status, fieldsOf(anew.text)["value-1"]], [200, "new"]);
  },
  "a text that is left as it is keeps the ends of its lines, whichever they are": async (
    { open, send, namespace },
  ) => {
    const lines = "one\rtwo\r\nthree\nfour\r";
    await namespace.query("UPDATE people SET note = ? WHERE id = 5", [lines]);
    const form = fieldsOf(await open("/people?row=[5]"));
    // As browsers send it.
    const note = (form["value-3"] ?? "").replaceAll(/\r\n?|\n/g, "\r\n");
    const shown = await send("/people/row", { ...form, "value-3": note, "value-1": "Eve", do: "update" });
    assertEquals(shown.status, 200, shown.text);
    const done = await send("/people/row", { ...fieldsOf(shown.text), "value-3": note, do: "apply" });
    assertMatch(done.location ?? "", /done=updated/);
    assertEquals(rowsOf(await namespace.query("SELECT name, note FROM people WHERE id = 5")), [[
      "Eve",
      lines,
    ]]);
  },
  "a wrong value is said beside its field, and what was typed stays": async ({ open, send }) => {
    const form = fieldsOf(await open("/people?row=[6]"));
    const wrong = await send("/people/row", {
      ...form,
      "value-2": "many",
      "type-2": "integer",
      do: "update",
    });
    assertEquals(wrong.status, 422);
    assert(wrong.text.includes("Write a whole number in digits") && wrong.text.includes("many"));
    const unchanged = await send("/people/row", { ...form, do: "update" });
    assert(unchanged.text.includes("Change a value first"));
    const nothing = await send("/people/row", { ...form, "type-1": "null", do: "update" });
    assert(nothing.text.includes("NOT NULL"), "the engine's own words");
  },
  "what is typed into a field that is left out or NULL is not lost without a word": async (
    { open, send },
  ) => {
    const fresh = fieldsOf(await open("/people?new"));
    const made = await send("/people/row", { ...fresh, "value-1": "new", "value-3": "typed", do: "insert" });
    assertEquals([made.status, fieldsOf(made.text)["value-3"]], [422, "typed"]);
    assert(made.text.includes("Choose its type, or empty the field; it is left out as it stands"));
    const form = fieldsOf(await open("/people?row=[6]"));
    assertEquals(form["type-3"], "null");
    const changed = await send("/people/row", { ...form, "value-3": "typed", do: "update" });
    assertEquals([changed.status, fieldsOf(changed.text)["value-3"]], [422, "typed"]);
    assert(changed.text.includes("Choose its type, or empty the field; it is NULL as it stands"));
  },
  "a date that must be there is typed as text": async ({ open, namespace }) => {
    await namespace.setup(
      "CREATE TABLE due (on_day DATE NOT NULL, at DATETIME NOT NULL, price DECIMAL NOT NULL)",
    );
    const { "type-0": day, "type-1": at, "type-2": price } = fieldsOf(await open("/due?new"));
    assertEquals([day, at, price], ["text", "text", "number"]);
  },
  "a deletion says what goes with the row, and is made once": async ({ send, namespace }) => {
    const shown = await send("/people/row", { row: "[3]", do: "delete" });
    assert(shown.text.includes("2 rows more by triggers and foreign keys"));
    const done = await send("/people/row", { ...fieldsOf(shown.text), do: "apply" });
    assertMatch(done.location ?? "", /done=deleted/);
    assertEquals(rowsOf(await namespace.query("SELECT count(*) FROM pets")), [[1]]);
    assertEquals((await send("/people/row", { ...fieldsOf(shown.text), do: "apply" })).status, 409);
  },
  "a new row leaves out what the table makes": async ({ open, send, namespace }) => {
    const form = fieldsOf(await open("/people?new"));
    assertEquals([form["type-0"], form["type-1"], form["type-2"]], ["omit", "text", "omit"]);
    const shown = await send("/people/row", { ...form, "value-1": "new\r\nlines", do: "insert" });
    await send("/people/row", { ...fieldsOf(shown.text), do: "apply" });
    assertEquals(rowsOf(await namespace.query("SELECT id, name FROM people ORDER BY id DESC LIMIT 1")), [
      [`${BigInt(BIG) + 1n}`, "new\nlines"],
    ]);
  },
  "tables without a usable key are paged by the engine's row number, and where that is hidden are only read":
    async (world) => {
      const { open, send, namespace } = world;
      await namespace.setup(
        "CREATE TABLE log (at TEXT PRIMARY KEY, line TEXT)",
        "INSERT INTO log VALUES (NULL, 'a'), (NULL, 'b')",
        "CREATE TABLE falling (id INTEGER PRIMARY KEY DESC, line TEXT)",
        "INSERT INTO falling VALUES (NULL, 'a'), (NULL, 'b')",
        "CREATE TABLE odd (rowid TEXT, _rowid_ TEXT, oid TEXT)",
        "INSERT INTO odd VALUES ('x', 'y', 'z')",
      );
      for (const table of ["log", "falling"]) {
        assertEquals(keysOf(await open(`/${table}`)), ["[1]", "[2]"]);
        const form = fieldsOf(await open(`/${table}?row=[2]`));
        const shown = await send(`/${table}/row`, { ...form, "value-1": "B", do: "update" });
        await send(`/${table}/row`, { ...fieldsOf(shown.text), do: "apply" });
        assertEquals(rowsOf(await namespace.query(`SELECT line FROM ${table}`)), [["a"], ["B"]]);
      }
      const odd = await open("/odd");
      assert(odd.includes("Nothing names the rows of this table") && odd.includes(">z<"));
    },
  "a key with U+0000 leads nowhere: no engine takes it back, and one would find the neighbour": async (
    { open, namespace },
  ) => {
    await namespace.setup(
      "CREATE TABLE words (word TEXT PRIMARY KEY, n) WITHOUT ROWID",
      "INSERT INTO words VALUES ('a', 1), ('a' || char(0) || 'b', 2), ('c', 3)",
    );
    assertEquals(keysOf(await open("/words")), ['["a"]', '["c"]']);
  },
  "a value too long for a form says its length and is not changed there": async ({ open, namespace }) => {
    await namespace.query("UPDATE people SET note = zeroblob(30000) WHERE id = 8");
    const text = await open("/people?row=[8]");
    assert(text.includes("30,000 bytes: change it by a statement") && !text.includes('name="value-3"'));
  },
  "a viewer looks and is refused every change": async ({ app, namespace, open, send }) => {
    const viewer = await signIn(app, { role: "viewer", namespace: namespace.slug });
    await namespace.query("UPDATE people SET note = ? WHERE id = 7", [`${"long ".repeat(100)}to its end`]);
    const text = await open("/people?row=[7]", viewer);
    assert(text.includes("long to its end"), "no part of a value is kept from who only reads");
    assert(text.includes("You may read it") && !text.includes("Show the change"));
    assertEquals((await send("/people/row", { row: "[7]", do: "delete" }, viewer)).status, 403);
  },
  "hostile names are text, and each has an address": async ({ app, admin, namespace, base, open }) => {
    const names = ["..", ".", "", "~x", "a/b?c#d%25", '"><script>alert(1)</script>', "x\u202ey", "%2e%2e"];
    for (const name of names) {
      const quoted = `"${name.replaceAll('"', '""')}"`;
      await namespace.setup(`CREATE TABLE ${quoted} (${quoted === '""' ? "a" : quoted} TEXT)`);
      await namespace.query(`INSERT INTO ${quoted} VALUES (?)`, ["</td><img src=x>\u202e"]);
    }
    const list = await open("");
    const links = [...list.matchAll(/<a href="([^"]*\/tables\/[^"]*)"/g)].map(([, href = ""]) => plain(href));
    assertEquals(links.length, names.length + 2);
    for (const href of links) {
      const { pathname } = new URL(href, "http://localhost");
      assert(pathname.startsWith(`${base}/`), href);
      const { status, text } = await openPage(app, pathname, admin);
      assertEquals(status, 200, href);
      const shown = text.replaceAll(/ (?:data-\w+|value|href)="[^"]*"/g, "");
      assertEquals(/<img src=x|<script>alert|\u202e/.test(shown), false, href);
      if (!/people|pets/.test(href)) assert(shown.includes("&lt;/td&gt;&lt;img src=x&gt;⟨U+202E⟩"), href);
    }
  },
};

testSteps("the table browser", worldOf, steps);
