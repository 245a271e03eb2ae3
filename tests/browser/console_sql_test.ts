// The SQL page, the table browser and the overview in a real browser: with the editor, by keyboard, in both themes.
import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { signIn } from "../testing/person.ts";
import { makeTestNamespace, rowsOf } from "../testing/test_namespace.ts";
import { assertSmall, launchBrowser, overflow, violations, withPage } from "./browser.ts";
import { type ConsoleWorld, openConsole } from "./console_world.ts";
import { unlooked } from "../testing/unlooked.ts";

const browser = await launchBrowser();
const ignore = browser === null;
interface World extends ConsoleWorld {
  readonly base: string;
  look(path: string, look: (page: Page) => Promise<void>, refusals?: readonly number[]): Promise<void>;
  count(sql: string): Promise<unknown>;
}

async function openWorld(): Promise<World> {
  const world = await openConsole();
  const { app, url, signedIn } = world;
  const namespace = await makeTestNamespace(app);
  await namespace.setup(
    "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), status TEXT)",
    "INSERT INTO customers VALUES (1, 'Ada'), (2, 'Mei')",
    "INSERT INTO orders VALUES (1, 1, 'paid'), (2, 2, 'paid'), (3, 1, 'void')",
  );
  const admin = await signIn(app, { role: "admin" });
  return {
    ...world,
    base: "/console/acme/db/main",
    look: async (path, look, refusals = []) => {
      if (browser) await withPage(browser, url + path, { ...signedIn(admin), refusals }, look);
    },
    count: async (sql) => rowsOf(await namespace.query(sql))[0]?.[0],
  };
}

/** The editor's cursor blinks for ever, and is left alone. */
const FINISH_FADING =
  "for (const one of document.getAnimations()) if (one.effect.getComputedTiming().endTime !== Infinity) one.finish()";

/** What a reader with either theme meets, wide and on a phone. */
async function assertReadable(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    // Colours that fade from one scheme to the other are looked at when they have arrived.
    await page.evaluate(FINISH_FADING);
    // Only colours differ between the two.
    const which = colorScheme === "light" ? "all" : "contrast";
    assertEquals(await violations(page, which), [], `${page.url()} ${colorScheme}`);
  }
  const size = page.viewportSize();
  await page.setViewportSize({ width: 360, height: 740 });
  assertEquals(await overflow(page), 0, page.url());
  if (size) await page.setViewportSize(size);
}

const steps: Readonly<Record<string, (world: World) => Promise<void>>> = {
  "what was typed is there again for whoever looks something up and comes back": async ({ base, look }) => {
    await look(`${base}/sql`, async (page) => {
      const editor = page.getByRole("textbox", { name: "SQL" });
      // As where the console is reached over http from another machine.
      await page.addInitScript("delete Crypto.prototype.randomUUID");
      await page.reload();
      await page.locator("form[data-ready]").waitFor();
      await editor.fill("SELECT name FROM customers");
      await page.getByRole("link", { name: "Tables", exact: true }).click();
      await page.waitForURL("**/tables");
      await page.goBack();
      await page.locator("form[data-ready]").waitFor();
      assertEquals(await editor.innerText(), "SELECT name FROM customers");
      await page.getByText("Reads about 2 rows").waitFor();
      await page.reload();
      await page.locator("form[data-ready]").waitFor();
      assertEquals(await page.locator("textarea[name=sql]").inputValue(), "SELECT name FROM customers");
      const kept = () => page.evaluate<string>("JSON.stringify([history.state, { ...sessionStorage }])");
      assert((await kept()).includes("customers"));
      // The session is another step's too.
      await page.route("**/-/sign-out", (route) => route.fulfill({ status: 204 }));
      await page.getByRole("button", { name: "Sign out" }).click();
      assert(!(await kept()).includes("customers"), "a text of who has left");
    });
  },
  "what comes of a run is told to who does not see it": async ({ base, look }) => {
    await look(`${base}/sql`, async (page) => {
      await page.locator("form[data-ready]").waitFor();
      const told = page.locator("#sql-came[role=status]");
      for (
        const [sql, words] of [
          ["SELECT name FROM customers", "Result, Rows 1 to 2 of 2"],
          ["UPDATE customers SET name = 'a'", "This would change 2 rows"],
        ] as const
      ) {
        await page.evaluate(`document.querySelector("textarea[name=sql]").value = ${JSON.stringify(sql)}`);
        await page.getByRole("button", { name: /^Run/ }).click();
        await told.filter({ hasText: words }).waitFor({ state: "attached" });
      }
    });
  },
  "the editor completes, asks for values while one types, says the cost, and runs by keyboard": async (
    world,
  ) => {
    await world.look(`${world.base}/sql`, async (page) => {
      const editor = page.locator(".cm-content");
      await editor.waitFor();
      await page.keyboard.type("SELECT name FROM cust");
      // The list may still be that of fewer letters.
      await page.locator(".cm-tooltip-autocomplete li", { hasText: "customers" }).first().click();
      await page.locator(".cm-content", { hasText: "FROM customers" }).waitFor();
      await page.keyboard.type(" WHERE id = ?");
      const value = page.getByLabel("value 1", { exact: true });
      await value.waitFor();
      await page.getByText("Reads about").waitFor();
      await value.fill("2");
      await page.getByLabel("Type of value 1").selectOption("integer");
      await editor.click();
      await page.keyboard.press("Control+Enter");
      await page.getByRole("cell", { name: "Mei" }).waitFor();
      await assertReadable(page);
      await assertSmall(page);
    });
  },
  "what is typed over coloured text takes its place, and a bracket stands around it": async (world) => {
    await world.look(`${world.base}/sql`, async (page) => {
      const editor = page.locator(".cm-content");
      await editor.waitFor();
      const over = async (text: string, becomes: string) => {
        await page.keyboard.press("Control+A");
        await page.keyboard.type(text);
        await page.waitForFunction(
          `document.querySelector(".cm-content").textContent === ${JSON.stringify(becomes)}`,
        );
      };
      await page.keyboard.type("SELECT 'a' FROM orders");
      await over("DELETE", "DELETE");
      await over("(", "(DELETE)");
      await over("é 2", "é 2");
      await page.keyboard.press("Control+Z");
      await editor.getByText("(DELETE)").waitFor();
      assertEquals(await page.locator("textarea[name=sql]").inputValue(), "(DELETE)");
    });
  },
  "what turns the order of a text is seen in the editor": async (world) => {
    const sql = "SELECT 'a\u202eb\u202ac'";
    await world.look(`${world.base}/sql?${new URLSearchParams({ sql })}`, async (page) => {
      await page.locator(".cm-content").waitFor();
      assertEquals(await page.locator(".cm-content .cm-specialChar").count(), 2);
      assertEquals(await page.locator("textarea[name=sql]").inputValue(), sql);
    });
  },
  "a failure is marked in the editor, and the mark goes when the text changes": async (world) => {
    const sql = "SELECT nme FROM customers";
    await world.look(`${world.base}/sql?${new URLSearchParams({ sql })}`, async (page) => {
      await page.getByRole("button", { name: "Run" }).click();
      await page.locator(".cm-content .sql-failed").waitFor();
      assertEquals(await page.locator(".cm-content .sql-failed").textContent(), "nme");
      // The editor says it too, before anything runs.
      await page.locator("#outcome").getByText("no such column: nme").waitFor();
      await page.locator(".cm-content").press("End");
      await page.keyboard.type(" ");
      await page.locator(".cm-content .sql-failed").waitFor({ state: "detached" });
    });
  },
  "what fails beside the text says so beside the text, which stays": async (world) => {
    await world.look(`${world.base}/sql`, async (page) => {
      await page.locator(".cm-content").fill("SELECT name FROM customers");
      await page.getByText("Reads about").waitFor();
      // As if the database had been deleted since the page was opened.
      await page.route(
        (url) => url.pathname.endsWith("/main/sql"),
        (route) => route.continue({ url: route.request().url().replace("/main/", "/gone/") }),
      );
      await page.getByRole("button", { name: "Run" }).click();
      await page.locator("#outcome", { hasText: "Request req_" }).waitFor();
      assertEquals(await page.locator(".cm-content").textContent(), "SELECT name FROM customers");
    }, [404]);
  },
  "a statement whose answer does not come says so, in the place of the last one's rows": async (world) => {
    const sql = "SELECT name FROM customers";
    await world.look(`${world.base}/sql?${new URLSearchParams({ sql })}`, async (page) => {
      await page.getByRole("button", { name: "Run" }).click();
      await page.getByRole("cell", { name: "Mei" }).waitFor();
      await page.evaluate(
        "fetch = () => Promise.reject(new TypeError('no network')), console.error = () => {}",
      );
      await page.getByRole("button", { name: "Run" }).click();
      await page.getByText("the service could not be reached").waitFor();
      assertEquals(await page.getByRole("cell", { name: "Mei" }).count(), 0);
      assertEquals(await page.locator(".cm-content").textContent(), sql);
    });
  },
  "a write shows its rows, and changes them by the button that names their number": async (world) => {
    const sql = "UPDATE orders SET status = 'sent' WHERE status = 'paid'";
    await world.look(`${world.base}/sql?${new URLSearchParams({ sql })}`, async (page) => {
      await page.getByRole("button", { name: "Run" }).click();
      const button = page.getByRole("button", { name: "Change 2 rows" });
      await button.waitFor();
      await assertReadable(page);
      assertEquals(await world.count("SELECT count(*) FROM orders WHERE status = 'sent'"), 0);
      await button.click();
      await page.getByText("2 rows written").waitFor();
      assertEquals(await world.count("SELECT count(*) FROM orders WHERE status = 'sent'"), 2);
    });
  },
  "a statement that ran is published from where it stands, and examples give way to results": async (
    world,
  ) => {
    await world.look(`${world.base}/sql`, async (page) => {
      await page.getByText("To begin with").waitFor();
      await page.locator(".cm-content").fill("SELECT name FROM customers WHERE id = ?");
      await page.getByLabel("value 1", { exact: true }).fill("1");
      await page.getByRole("button", { name: "Run" }).click();
      await page.getByRole("cell", { name: "Ada" }).waitFor();
      assertEquals(await page.getByText("To begin with").count(), 0);
      await page.getByRole("button", { name: "Publish as endpoint" }).click();
      await page.waitForURL("**/endpoints/-/new?**");
      assertEquals(await page.locator("main").count(), 1);
      await page.getByRole("group", { name: "Input 1" }).getByLabel("Name").waitFor();
      await assertReadable(page);
    });
  },
  "a double click on a cell opens its row there, the change is made after a look, and one can come back to that":
    async (world) => {
      await world.look(`${world.base}/tables/orders`, async (page) => {
        await assertReadable(page);
        await page.getByRole("cell", { name: "void" }).dblclick();
        const field = page.locator("textarea:focus");
        await field.waitFor();
        await field.fill("late");
        await assertReadable(page);
        await page.getByRole("button", { name: "Show the change" }).click();
        await page.getByText("Exactly one row").waitFor();
        await page.getByRole("link", { name: "Leave it as it is" }).click();
        await page.waitForURL("**/tables/orders");
        await page.goBack();
        await page.getByRole("cell", { name: "void" }).dblclick();
        await field.fill("late");
        await page.getByRole("button", { name: "Show the change" }).click();
        await page.getByText("Exactly one row").waitFor();
        await assertReadable(page);
        await page.getByRole("button", { name: "Change this row" }).click();
        await page.getByText("One row was changed.").waitFor();
        assertEquals(await world.count("SELECT status FROM orders WHERE id = 3"), "late");
        await assertSmall(page);
      });
    },
  "a field that is left out takes the type of its column while something stands in it": async (world) => {
    await world.look(`${world.base}/tables/orders?new`, async (page) => {
      const [field, type] = [page.getByLabel("status TEXT"), page.getByLabel("Type of status")];
      assertEquals(await type.inputValue(), "omit");
      await field.fill("typed");
      assertEquals(await type.inputValue(), "text");
      await field.fill("");
      assertEquals(await type.inputValue(), "omit");
      await field.fill("12");
      await type.selectOption("integer");
      await field.fill("13");
      assertEquals(await type.inputValue(), "integer");
    });
  },
  "the overview brings its findings after itself, and a fix leads to its proposal": async (world) => {
    await world.look(world.base, async (page) => {
      const fix = page.getByRole("button", { name: "Propose the fix" }).first();
      await fix.waitFor();
      await assertReadable(page);
      await assertSmall(page);
      await fix.click();
      await page.getByText("This changes the schema").waitFor();
    });
  },
};

Deno.test({
  name: "the editor, the tables and the overview in a browser",
  ignore,
  fn: async (t) => {
    const world = await openWorld();
    try {
      for (const [name, step] of Object.entries(steps)) {
        await t.step({
          name,
          ...unlooked,
          fn: () => step(world),
        });
      }
    } finally {
      await world.stop();
    }
  },
  ...unlooked,
});

Deno.test({ name: "the browser ends", fn: async () => await browser?.close(), ...unlooked });
