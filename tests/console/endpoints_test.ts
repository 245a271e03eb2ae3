// The pages of the endpoints, as a browser without script sees them.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { testSteps } from "../testing/cases.ts";
import { signIn } from "../testing/person.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { type ConsoleWorld, consoleWorld, plain } from "./console_world.ts";
import { openPage } from "./open_page.ts";

interface World extends ConsoleWorld {
  /** As the API answers. */
  readonly api: (path?: string) => Promise<unknown>;
}

async function world(app: StartedApp, slug: string): Promise<World> {
  const own = await consoleWorld(
    app,
    { slug, page: "endpoints" },
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT NOT NULL)",
    "INSERT INTO orders VALUES (1, 'first'), (2, 'second')",
  );
  return {
    ...own,
    api: async (path = "") => {
      const at = `/api/namespaces/${slug}/databases/main/endpoints${path}`;
      return JSON.parse((await app.request("GET", at, { token: own.tenant.token })).text).data;
    },
  };
}

/** What a browser sends of a form that it was shown. */
function formIn(text: string, id: string): Record<string, string> {
  const form = text.slice(text.indexOf(`<form id="${id}"`));
  const inside = form.slice(0, form.indexOf("</form>"));
  const fields: Record<string, string> = {};
  const unescaped = (value: string) =>
    value.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#39;", "'")
      .replaceAll("&amp;", "&");
  for (const [tag] of inside.matchAll(/<input[^>]*>/g)) {
    const name = / name="([^"]*)"/.exec(tag)?.[1] ?? "";
    const box = /type="checkbox"/.test(tag);
    // A field of one line holds no line ends.
    const value = unescaped(/ value="([^"]*)"/.exec(tag)?.[1] ?? "").replace(/[\r\n]/g, "");
    if (!box || / checked/.test(tag)) fields[name] = value;
  }
  for (const [, name = "", value = ""] of inside.matchAll(/<textarea[^>]* name="([^"]*)"[^>]*>([^<]*)</g)) {
    // So browsers send the lines of a text area.
    fields[name] = unescaped(value).replace(/\r\n?/g, "\n").replace(/^\n/, "").replaceAll("\n", "\r\n");
  }
  for (
    const [, name = "", options = ""] of inside.matchAll(/<select[^>]* name="([^"]*)"[^>]*>(.*?)<\/select>/gs)
  ) {
    fields[name] = /value="([^"]*)" selected/.exec(options)?.[1] ?? /value="([^"]*)"/.exec(options)?.[1] ??
      "";
  }
  const { csrf: _, ...rest } = fields;
  return rest;
}

/** A specification that says everything that its kind can. */
const whole = {
  slug: "order",
  name: 'One "order" <b>',
  description: "By id:\none order, or none",
  kind: "query",
  method: "GET",
  sql: "SELECT id, note\nFROM orders WHERE id = ? OR note = ? OR note = ? OR note = ?",
  input: [
    { name: "id", label: "Number", type: "integer", required: true, min: 1, max: 99 },
    { name: "note", type: "text", maxLength: 20, enum: ["null", " two words"], default: "null" },
    {
      name: "sort",
      type: "text",
      enum: ["", "two\nlines", '"quoted"', '"', "back\\n"],
      default: "two\nlines",
    },
    { name: "code", type: "text", pattern: "^a* " },
  ],
  output: "first_row",
  auth: "public",
  rateLimit: { perMin: 60, perDay: 1000 },
  cors: ["https://app.example", "http://localhost:3000"],
  cacheSec: 5,
} as const;

testSteps("the pages of the endpoints", world, {
  "have an open input for each placeholder of a statement that is handed over, and none beside": async (
    { path, look },
  ) => {
    const sql = "SELECT id FROM orders WHERE id = ? OR note = ?";
    const form = await look(`${path}/-/new?${new URLSearchParams({ sql })}`);
    const inputs = [...form.matchAll(/<details +class="card fold input-row"( open)? ?><summary>([^<]*)/g)];
    assertEquals(inputs.map(([, open, title]) => [open !== undefined, title]), [
      ...[[true, "Input for ?1"], [true, "Input for ?2"]],
      ...[[false, "Add another input"], [false, "Add another input"]],
    ]);
    assertStringIncludes(await look(`${path}/-/new`), "<summary>Add an input</summary>");
  },
  "show a call of an endpoint that can be pasted, with a value for each input": async (
    { app, tenant, path, look },
  ) => {
    const api = `/api/namespaces/${tenant.slug}/databases/main/endpoints`;
    const call = async (spec: Record<string, unknown>) => {
      const body = { name: "A call", output: "rows", kind: "query", ...spec };
      const { status, text } = await app.request("POST", api, { token: tenant.token, body });
      assertEquals(status, 201, text);
      return plain(await look(`${path}/${spec["slug"]}`)).replaceAll("&#39;", "'").replaceAll("&quot;", '"');
    };
    const below = { slug: "below", method: "GET", sql: "SELECT id FROM orders WHERE id < ?" };
    const input = [{ name: "most", type: "integer", min: 5 }];
    assertStringIncludes(await call({ ...below, input }), `/p/${tenant.slug}/main/below?most=5'`);
    const note = { slug: "note", method: "POST", kind: "mutation", output: "rows_written" };
    const named = [{ name: "note", type: "text", enum: ["it's"] }];
    const shown = await call({ ...note, sql: "INSERT INTO orders (note) VALUES (?)", input: named });
    assertStringIncludes(shown, `/p/${tenant.slug}/main/note -d '{"note":"it'\\''s"}'`);
  },
  "begin with five drafts from a table": async ({ path, send, look, api }) => {
    assertStringIncludes(await look(path), "From a table");
    assertEquals((await send(`${path}/-/scaffold`, { table: "orders" })).status, 303);
    assertEquals((await api() as unknown[]).length, 5);
    assertStringIncludes(await look(path), `${path}/get-order`);
    const again = await send(`${path}/-/scaffold`, { table: "orders" });
    assertStringIncludes(again.text, "Slug already exists");
  },
  "show a specification in a form that says all of it: saved untouched it stays the same": async (
    { app, tenant, path, send, look, api },
  ) => {
    const made = await app.request("POST", `/api/namespaces/${tenant.slug}/databases/main/endpoints`, {
      token: tenant.token,
      body: JSON.stringify(whole),
    });
    assertEquals(made.status, 201, made.text);
    const before = await api("/order") as Record<string, unknown>;
    const page = await look(`${path}/order`);
    assert(!page.includes("<b>"));
    assertEquals((await send(`${path}/order`, formIn(page, "spec"))).status, 303);
    const after = await api("/order") as Record<string, unknown>;
    for (const name of Object.keys(whole)) assertEquals(after[name], before[name], name);
  },
  "leave alone what a browser changes of its own accord, beside what somebody has changed": async (
    { app, tenant, path, send, look, api },
  ) => {
    await tenant.setup('CREATE TABLE odd (id INTEGER PRIMARY KEY, "done " INTEGER, " a\nb" INTEGER)');
    const spec = {
      ...{ ...whole, slug: "odd", name: " spaces " },
      description: "\none\r\ntwo",
      sql: '\nSELECT id, "done ", " a\nb"\r\nFROM odd\r-- mixed\nWHERE id = ? AND ? <> \'\'',
      input: [
        { name: "id", type: "integer" },
        { name: "code", type: "text", pattern: "^a\r\nb$", enum: ["a\r\nb"], label: " two " },
      ],
      outputTypes: { "done ": "boolean", " a\nb": "json" },
    };
    const made = await app.request("POST", `/api/namespaces/${tenant.slug}/databases/main/endpoints`, {
      token: tenant.token,
      body: JSON.stringify(spec),
    });
    assertEquals(made.status, 201, made.text);
    const form = async () => formIn(await look(`${path}/odd`), "spec");
    const saved = async () => {
      const all = await api("/odd") as Record<string, unknown>;
      return Object.fromEntries(Object.keys(spec).map((name) => [name, all[name]]));
    };
    assertEquals(await saved(), spec);
    assertEquals((await send(`${path}/odd`, await form())).status, 303);
    assertEquals(await saved(), spec);
    const changed = { ...await form(), name: "Another", "input.1.label": "Code" };
    assertEquals((await send(`${path}/odd`, changed)).status, 303);
    const input = [spec.input[0], { ...spec.input[1], label: "Code" }];
    assertEquals(await saved(), { ...spec, name: "Another", input });
    assertEquals(
      (await send(`${path}/odd`, { ...await form(), sql: "SELECT ?, ?", outputTypes: "" })).status,
      303,
    );
    assertEquals((await saved())["sql"], "SELECT ?, ?");
    // What stands beside a line that somebody has written keeps its spaces.
    const columns = {
      ...await form(),
      sql: 'SELECT id, "done ", 1 AS " led" FROM odd WHERE id = ? AND ? <> 1',
    };
    assertEquals((await send(`${path}/odd`, { ...columns, outputTypes: "id json" })).status, 303);
    const spaced = { "done ": "boolean", " led": "json" };
    const { slug, name, kind, method, sql, input: inputs, output } = await api("/odd") as Record<
      string,
      unknown
    >;
    const again = await app.request("PUT", `/api/namespaces/${tenant.slug}/databases/main/endpoints/odd`, {
      token: tenant.token,
      body: { slug, name, kind, method, sql, input: inputs, output, outputTypes: spaced },
    });
    assertEquals(again.status, 200, again.text);
    const lines = await form();
    const added = { ...lines, outputTypes: `id json\r\n${lines["outputTypes"]}` };
    assertEquals((await send(`${path}/odd`, added)).status, 303);
    assertEquals((await saved())["outputTypes"], { id: "json", ...spaced });
    // So do the lines of a list that another one was put before.
    await tenant.setup('CREATE TABLE " led" (id INTEGER PRIMARY KEY)');
    const ask = {
      ...{ slug: "ask", name: "Ask", kind: "ask", method: "POST", sql: "", output: "answer" },
      input: [{ name: "question", type: "text", required: true, maxLength: 500 }],
      askConfig: { allowedTables: [" led", "odd"] },
    };
    const asking = await app.request("POST", `/api/namespaces/${tenant.slug}/databases/main/endpoints`, {
      token: tenant.token,
      body: JSON.stringify(ask),
    });
    assertEquals(asking.status, 201, asking.text);
    const tables = formIn(await look(`${path}/ask`), "spec");
    const more = { ...tables, allowedTables: `orders\r\n${tables["allowedTables"]}` };
    assertEquals((await send(`${path}/ask`, more)).status, 303);
    const { askConfig } = await api("/ask") as { askConfig?: unknown };
    assertEquals(askConfig, { allowedTables: ["orders", " led", "odd"] });
  },
  "overwrite nothing that was saved since the form was opened, and keep what was typed": async (
    { app, tenant, path, send, look, api },
  ) => {
    const made = await app.request("POST", `/api/namespaces/${tenant.slug}/databases/main/endpoints`, {
      token: tenant.token,
      body: JSON.stringify({ ...whole, slug: "shared" }),
    });
    assertEquals(made.status, 201, made.text);
    const here = formIn(await look(`${path}/shared`), "spec");
    assertEquals((await send(`${path}/shared`, { ...here, description: "by another tab" })).status, 303);
    const late = await send(`${path}/shared`, { ...here, name: "Typed here" });
    assertEquals(late.status, 400);
    assertStringIncludes(late.text, "was changed after you had opened it");
    assertEquals(formIn(late.text, "spec")["name"], "Typed here");
    const { name, description } = await api("/shared") as Record<string, unknown>;
    assertEquals([name, description], [whole.name, "by another tab"]);
    const again = formIn(await look(`${path}/shared`), "spec");
    assertEquals((await send(`${path}/shared`, { ...again, name: "Typed here" })).status, 303);
  },
  "show a list and bytes in that form too": async ({ app, tenant, path, send, look, api }) => {
    const specs = [
      {
        ...{
          ...whole,
          slug: "pages",
          sql: "SELECT id, note FROM orders",
          output: "page",
          cacheSec: undefined,
        },
        input: [{ name: "about", type: "text" }, { name: "from", type: "integer" }],
        list: {
          key: ["id", "note"],
          filters: [{ input: "about", column: "note" }, { input: "from", column: "id", is: ">=" }],
        },
      },
      { ...whole, slug: "raw", output: "bytes", contentType: "image/png" },
    ];
    for (const spec of specs) {
      const made = await app.request("POST", `/api/namespaces/${tenant.slug}/databases/main/endpoints`, {
        token: tenant.token,
        body: JSON.stringify(spec),
      });
      assertEquals(made.status, 201, made.text);
      const before = await api(`/${spec.slug}`) as Record<string, unknown>;
      const form = formIn(await look(`${path}/${spec.slug}`), "spec");
      assertEquals((await send(`${path}/${spec.slug}`, form)).status, 303);
      const after = await api(`/${spec.slug}`) as Record<string, unknown>;
      for (const name of Object.keys(spec)) assertEquals(after[name], before[name], name);
    }
  },
  "make an app's drafts, with an owner": async ({ tenant, path, send, api }) => {
    await tenant.setup("CREATE TABLE mine (id INTEGER PRIMARY KEY, who INTEGER NOT NULL, note TEXT)");
    assertEquals(
      (await send(`${path}/-/scaffold`, { table: "mine", shape: "app", owner: "who" })).status,
      303,
    );
    const made = await api("/list-mine") as Record<string, unknown>;
    assertEquals([made["output"], made["auth"]], ["page", "session"]);
  },
  "make what an app needs of a table, open at once to its page": async ({ path, send, api }) => {
    const fields = { table: "orders", shape: "app", publish: "yes" };
    const wrong = await send(`${path}/-/scaffold`, { ...fields, cors: "https://shop.example/page" });
    assertEquals(wrong.status, 400);
    assertStringIncludes(wrong.text, "Write the origin as browsers send it");
    assertStringIncludes(wrong.text, "https://shop.example/page</textarea>");
    assertEquals(await api(), []);
    const cors = "https://shop.example\r\n http://localhost:3000 \r\n";
    assertEquals((await send(`${path}/-/scaffold`, { ...fields, cors })).status, 303);
    const made = await api() as Record<string, unknown>[];
    assertEquals(made.length, 5);
    for (const { status, cors } of made) {
      assertEquals([status, cors], ["published", ["https://shop.example", "http://localhost:3000"]]);
    }
  },
  "say beside the field what is wrong, keep what was typed, and save nothing": async (
    { path, send, look, api },
  ) => {
    const fields = {
      ...formIn(await look(`${path}/-/new`), "spec"),
      ...{ slug: "bad", name: "Bad", sql: "SELECT missing FROM orders WHERE id = ?" },
      ...{ "input.1.name": "id", "input.1.type": "integer", "input.1.min": "9", "input.1.max": "1" },
    };
    const checked = await send(`${path}/-/check`, fields);
    assertEquals(checked.status, 200);
    assertStringIncludes(checked.text, "missing");
    assertStringIncludes(checked.text, "input[0]");
    const refused = await send(path, fields);
    assertEquals(refused.status, 400);
    assertStringIncludes(refused.text, 'value="9"');
    assertEquals(await api(), []);
    const right = { ...fields, sql: "SELECT note FROM orders WHERE id = ?", "input.1.max": "99" };
    assertStringIncludes((await send(`${path}/-/check`, right)).text, "It can be saved like this");
    assertEquals((await send(path, right)).headers.get("location"), `${path}/bad`);
  },
  "publish, pause and take back, and say where a caller finds it": async (
    { app, tenant, path, send, look },
  ) => {
    await send(`${path}/-/scaffold`, { table: "orders" });
    const one = `${path}/get-order`;
    const call = async () => (await app.request("GET", `/p/${tenant.slug}/main/get-order?id=1`)).status;
    assertEquals(await call(), 404);
    assertEquals((await send(`${one}/publish`)).status, 303);
    assertEquals(await call(), 200);
    assertStringIncludes(await look(one), `/p/${tenant.slug}/main/get-order`);
    await send(`${one}/pause`);
    assertEquals(await call(), 503);
    assertEquals((await send(`${one}/pause`)).status, 303);
    await send(`${one}/unpublish`);
    assertEquals(await call(), 404);
    const wrong = await send(`${one}/pause`);
    assertEquals(wrong.status, 409);
    assertStringIncludes(wrong.text, "Move it to published first");
  },
  "try it with inputs of their types, and show what a caller would get": async ({ tenant, path, send }) => {
    await send(`${path}/-/scaffold`, { table: "orders" });
    const found = await send(`${path}/get-order/test`, { "in.id": "2" });
    assertEquals(found.status, 200);
    assertStringIncludes(found.text, "second");
    const refused = await send(`${path}/get-order/test`, { "in.id": "two" });
    assertStringIncludes(refused.text, ">400<");
    assertStringIncludes(refused.text, 'value="two"');
    await send(`${path}/create-order/test`, { "in.note": "<i>third" });
    assertStringIncludes((await send(`${path}/get-order/test`, { "in.id": "3" })).text, "&lt;i&gt;third");
    await tenant.query("INSERT INTO orders VALUES (9007199254740993, 'far away')");
    const far = await send(`${path}/get-order/test`, { "in.id": "9007199254740993" });
    assertStringIncludes(far.text, "far away");
    assert(!far.text.includes("What only you are told"));
    await tenant.query("ALTER TABLE orders RENAME TO sales");
    const gone = await send(`${path}/get-order/test`, { "in.id": "2" });
    const [told = "", toOwner = ""] = gone.text.split("What only you are told of it");
    assert(!told.includes("unknown_table") && toOwner.includes("unknown_table"), gone.text);
  },
  "compare a revision with the present one, and bring it back": async ({ admin, path, send, look, api }) => {
    await send(`${path}/-/scaffold`, { table: "orders" });
    const one = `${path}/get-order`;
    const fields = formIn(await look(one), "spec");
    assertEquals((await send(one, { ...fields, name: "Another name" })).status, 303);
    const compared = await look(`${one}?compare=1`);
    assertStringIncludes(compared, "diff-removed");
    assertStringIncludes(compared, "Another name");
    assertStringIncludes(plain(compared), `2 updated ${admin.email}`);
    assertEquals((await send(`${one}/restore`, { revision: "1" })).status, 303);
    assertEquals((await api("/get-order") as { name: string }).name, fields["name"]);
    assertEquals((await send(`${one}/restore`, { revision: "77" })).status, 404);
  },
  "delete one only with its slug typed, and show a reader nothing that changes it": async (
    { app, tenant, path, send },
  ) => {
    await send(`${path}/-/scaffold`, { table: "orders" });
    const viewer = await signIn(app, { role: "viewer", namespace: tenant.slug });
    const seen = await openPage(app, `${path}/get-order`, viewer);
    assertEquals(seen.status, 200);
    assert(!seen.text.includes(`action="${path}`));
    assertStringIncludes(plain(seen.text), "SELECT");
    assertStringIncludes(plain(seen.text), " id integer, required ");
    assertEquals((await send(`${path}/get-order/delete`, { confirm: "get" })).status, 400);
    assertEquals((await send(`${path}/get-order/delete`, { confirm: "get-order" })).status, 303);
    assertEquals((await openPage(app, `${path}/get-order`, viewer)).status, 404);
  },
});
