// The page of the rules, as a browser without script sees it.
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { testSteps } from "../testing/cases.ts";
import { signIn } from "../testing/person.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { type ConsoleWorld, consoleWorld } from "./console_world.ts";
import { openPage } from "./open_page.ts";

interface World extends ConsoleWorld {
  readonly rules: () => Promise<
    { id: string; tableGlob: string; enabled: boolean; minRows: number | null }[]
  >;
}

async function world(app: StartedApp, slug: string): Promise<World> {
  const own = await consoleWorld(
    app,
    { slug, page: "rules" },
    "CREATE TABLE orders (id INTEGER)",
    "CREATE TABLE order_items (id INTEGER)",
  );
  const api = `/api/namespaces/${slug}/databases/main/rules`;
  return {
    ...own,
    rules: async () =>
      JSON.parse((await app.request("GET", api, { headers: { cookie: own.admin.cookie } })).text).data,
  };
}

testSteps("the page of the rules", world, {
  "offers three rules where there is none, and each of them is taken": async (
    { app, admin, path, send, rules },
  ) => {
    const { status, text } = await openPage(app, path, admin);
    assertEquals(status, 200);
    const offered = [...text.matchAll(/<form action="[^"]*\/rules" method="post">(.*?)<\/form>/gs)].map((
      [, form = ""],
    ) =>
      Object.fromEntries(
        [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value]),
      )
    );
    assertEquals(offered.length, 3);
    for (const { csrf: _, ...fields } of offered) assertEquals((await send(path, fields)).status, 303);
    assertEquals((await rules()).length, 3);
  },
  "adds a rule, says it as a sentence, and names the tables that it means now": async (
    { app, admin, path, send },
  ) => {
    const added = await send(path, {
      ...{
        tableGlob: "order*",
        actions: "delete",
        effect: "require_approval",
        minRows: "10",
        tolerance: "2",
      },
      note: "Ask <b>Mara</b>",
    });
    assertEquals([added.status, added.headers.get("location")], [303, path], added.text);
    const { text } = await openPage(app, path, admin);
    assertStringIncludes(text, "Deletes of order* that touch 10 rows or more wait until an admin approves");
    assertStringIncludes(text, "up to 2 rows may have come or gone");
    assertStringIncludes(text, "Means 2 tables now");
    assertStringIncludes(text, "<code>order_items</code>");
    assertStringIncludes(text, "Ask &lt;b&gt;Mara&lt;/b&gt;");
    assert(!text.includes("<b>Mara"));
  },
  "gives a form back with what was typed and what is wrong": async ({ path, send, rules }) => {
    const back = await send(path, {
      tableGlob: "orders",
      effect: "deny",
      minRows: "many",
      note: "keep this",
    });
    assertEquals(back.status, 400);
    assertStringIncludes(back.text, "Write a whole number from 1 on");
    assertStringIncludes(back.text, "keep this");
    assertEquals(await rules(), []);
  },
  "changes, turns off and deletes a rule, and changing leaves it off": async (
    { app, admin, path, send, rules },
  ) => {
    await send(path, { tableGlob: "orders", effect: "deny" });
    const [rule] = await rules();
    assert(rule);
    assertEquals((await send(`${path}/${rule.id}/enabled`, { enabled: "no" })).status, 303);
    const { text } = await openPage(app, `${path}?edit=${rule.id}`, admin);
    assertStringIncludes(text, "Change the rule");
    await send(`${path}/${rule.id}`, { tableGlob: "order_*", effect: "deny", minRows: "5" });
    const [changed] = await rules();
    assertEquals([changed?.tableGlob, changed?.minRows, changed?.enabled], ["order_*", 5, false]);
    await send(`${path}/${rule.id}/enabled`, { enabled: "yes" });
    assertEquals((await rules())[0]?.enabled, true);
    // What deletes it stands behind a button that says what that means.
    const asks = (await openPage(app, path, admin)).text;
    const before = asks.slice(asks.indexOf('aria-label="Delete the rule: All writes of order_*"'));
    assertMatch(
      before,
      new RegExp(`^[^]*?</summary>[^]*?runs again at once[^]*? action="${path}/${rule.id}/delete"`),
    );
    assertEquals((await send(`${path}/${rule.id}/delete`, {})).status, 303);
    assertEquals(await rules(), []);
    assertEquals((await send(`${path}/${rule.id}/delete`, {})).status, 404);
  },
  "changing a rule leaves it with its table, whatever that is called": async (
    { app, tenant, path, send, rules },
  ) => {
    const api = `/api/namespaces/${tenant.slug}/databases/main/rules`;
    for (const tableGlob of [" Sheet1 ", "two\nlines"]) {
      const made = await app.request("POST", api, {
        token: tenant.token,
        body: { tableGlob, effect: "deny" },
      });
      assertEquals(made.status, 201, made.text);
      const rule = (await rules()).find((one) => one.tableGlob === tableGlob);
      // As a browser has it in the field.
      const field = tableGlob.replaceAll("\n", "");
      const changed = await send(`${path}/${rule?.id}`, { tableGlob: field, effect: "deny", minRows: "5" });
      assertEquals(changed.status, 303, changed.text);
      const after = (await rules()).find(({ id }) => id === rule?.id);
      assertEquals([after?.tableGlob, after?.minRows], [tableGlob, 5]);
    }
  },
  "a form that is older than the rule undoes nobody's change, and says so": async (
    { app, admin, path, send, rules },
  ) => {
    await send(path, { tableGlob: "orders", effect: "deny" });
    const [rule] = await rules();
    assert(rule);
    const { text } = await openPage(app, `${path}?edit=${rule.id}`, admin);
    assertStringIncludes(text, '<input type="hidden" name="revision" value="1"');
    const typed = { tableGlob: "orders", effect: "deny", revision: "1" };
    assertEquals((await send(`${path}/${rule.id}`, { ...typed, minRows: "5" })).status, 303);
    const late = await send(`${path}/${rule.id}`, { ...typed, minRows: "9" });
    assertEquals(late.status, 400);
    assertStringIncludes(late.text, "This rule was changed after you had opened it");
    assertStringIncludes(late.text, '<input type="hidden" name="revision" value="1"');
    assertEquals((await rules())[0]?.minRows, 5);
  },
  "shows the tables of a pattern that is only tried, and changes nothing": async (
    { app, admin, path, rules },
  ) => {
    const { text } = await openPage(app, `${path}?tableGlob=${encodeURIComponent("*_items")}`, admin);
    assertStringIncludes(text, "Means 1 table now");
    assertEquals(await rules(), []);
  },
  "shows a reader the rules without a way to change them, and leads from a branch to the trunk": async (
    { app, tenant, path, send },
  ) => {
    await send(path, { tableGlob: "orders", effect: "deny" });
    const viewer = await signIn(app, { role: "viewer", namespace: tenant.slug });
    const { text } = await openPage(app, path, viewer);
    assertStringIncludes(text, "All writes of orders are denied");
    assert(!text.includes(`action="${path}`));
    const branch = await openPage(app, path.replace("main", "main@pr-1"), viewer);
    assertStringIncludes(branch.text, `<a href="${path}">`);
  },
});
