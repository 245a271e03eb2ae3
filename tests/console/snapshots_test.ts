// The pages of the snapshots, as a browser without script sees them.
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { testSteps } from "../testing/cases.ts";
import { signIn } from "../testing/person.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { type ConsoleWorld, consoleWorld, plain } from "./console_world.ts";
import { openPage } from "./open_page.ts";

interface World extends ConsoleWorld {
  readonly names: () => Promise<unknown>;
}

async function world(app: StartedApp, slug: string): Promise<World> {
  const own = await consoleWorld(
    app,
    { slug, page: "snapshots" },
    "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)",
    "INSERT INTO people VALUES (1, 'Ada'), (2, 'Ben')",
  );
  return {
    ...own,
    names: async () =>
      JSON.parse((await own.tenant.query("SELECT id, name FROM people ORDER BY id")).text).data.rows,
  };
}

testSteps("the pages of the snapshots", world, {
  "teach the first one, and take one by its label or by the time": async ({ path, send, look, tenant }) => {
    assertStringIncludes(await look(path), `/v1/db/${tenant.slug}/main/snapshots`);
    assertEquals((await send(path, { label: "before-import" })).status, 303);
    assertEquals((await send(path)).status, 303);
    const text = await look(path);
    assertStringIncludes(text, "before-import");
    assertMatch(text, /manual-\d{8}T/);
    const again = await send(path, { label: "before-import" });
    assertEquals(again.status, 409);
    const wrong = await send(path, { label: "auto-mine" });
    assertEquals(wrong.status, 400);
    assertStringIncludes(wrong.text, "may not begin with auto-");
    assertStringIncludes(wrong.text, 'value="auto-mine"');
  },
  "show row by row what a restore changes, do exactly that, and offer to undo it": async (
    { path, send, look, names, tenant },
  ) => {
    await send(path, { label: "good" });
    await tenant.query("UPDATE people SET name = 'Bob' WHERE id = 2");
    await tenant.query("INSERT INTO people VALUES (3, 'Cy <b>')");
    const page = await look(`${path}/good/restore`);
    assertStringIncludes(plain(page), "2 rows of 1 table. Whatever was written since goes too");
    assertStringIncludes(page, "Cy &lt;b&gt;");
    const digest = /name="digest" value="([^"]+)"/.exec(page)?.[1] ?? "";
    assert(digest !== "");
    const done = await send(`${path}/good/restore`, { digest });
    assertEquals(done.status, 303, done.text.slice(-300));
    assertEquals(await names(), [[1, "Ada"], [2, "Ben"]]);
    const undo =
      /href="([^"]+)">undo the restore/.exec(await look(done.headers.get("location") ?? ""))?.[1] ?? "";
    const back = /name="digest" value="([^"]+)"/.exec(await look(undo))?.[1] ?? "";
    assertEquals((await send(undo, { digest: back })).status, 303);
    assertEquals(await names(), [[1, "Ada"], [2, "Bob"], [3, "Cy <b>"]]);
  },
  "keep everything when the database has changed since it was looked at": async (
    { path, send, look, names, tenant },
  ) => {
    await send(path, { label: "good" });
    await tenant.query("DELETE FROM people WHERE id = 1");
    const shown = await look(`${path}/good/restore`);
    assertMatch(shown.replace(/<[^>]+>/g, ""), /taken \d{4}-\d\d-\d\d \d\d:\d\d UTC.*by hand/s);
    const digest = /name="digest" value="([^"]+)"/.exec(shown)?.[1] ?? "";
    await tenant.query("INSERT INTO people VALUES (9, 'Late')");
    const late = await send(`${path}/good/restore`, { digest });
    assertEquals(late.status, 409);
    assertStringIncludes(late.text, "Look again at what this would do");
    assertStringIncludes(late.text, "Late");
    assertEquals(await names(), [[2, "Ben"], [9, "Late"]]);
  },
  "make a new database of one, and say what is wrong with its slug": async ({ app, path, send, tenant }) => {
    await send(path, { label: "good" });
    const wrong = await send(`${path}/good/copy`, { into: "Not A Slug" });
    assertEquals(wrong.status, 400);
    assertStringIncludes(wrong.text, "Use lower-case letters");
    const made = await send(`${path}/good/copy`, { into: "yesterday" });
    assertEquals([made.status, made.headers.get("location")], [303, `/console/${tenant.slug}/db/yesterday`]);
    const rows = await app.request("POST", `/v1/db/${tenant.slug}/yesterday/query`, {
      token: tenant.token,
      body: JSON.stringify({ sql: "SELECT count(*) FROM people" }),
    });
    assertEquals(JSON.parse(rows.text).data.rows, [[2]]);
  },
  "let a rule that denies stop a person too, and one that asks for a person pass": async (
    { app, path, send, look, names, tenant },
  ) => {
    const rule = (effect: string) =>
      app.request("POST", `/api/namespaces/${tenant.slug}/databases/main/rules`, {
        token: tenant.token,
        body: JSON.stringify({ tableGlob: "people", effect }),
      });
    await send(path, { label: "good" });
    await tenant.query("INSERT INTO people VALUES (3, 'Cy')");
    await rule("require_approval");
    const digestOf = async () =>
      /name="digest" value="([^"]+)"/.exec(await look(`${path}/good/restore`))?.[1] ?? "";
    assertEquals((await send(`${path}/good/restore`, { digest: await digestOf() })).status, 303);
    assertEquals(await names(), [[1, "Ada"], [2, "Ben"]]);
    const made = await rule("deny");
    assertEquals(made.status, 201, made.text);
    const undo = /href="([^"]+)" aria-label="Restore auto-/.exec(await look(path))?.[1] ?? "";
    const denied = await send(undo, {
      digest: /name="digest" value="([^"]+)"/.exec(await look(undo))?.[1] ?? "",
    });
    assertEquals(denied.status, 403);
    assertEquals(await names(), [[1, "Ada"], [2, "Ben"]]);
  },
  "show a reader the list and no way back": async ({ app, path, send, tenant }) => {
    await send(path, { label: "good" });
    const viewer = await signIn(app, { role: "viewer", namespace: tenant.slug });
    const { text } = await openPage(app, path, viewer);
    assertStringIncludes(text, "good");
    assert(!text.includes("/restore") && !text.includes(`action="${path}"`));
    assertEquals((await openPage(app, `${path}/none/restore`, viewer)).status, 403);
  },
});
