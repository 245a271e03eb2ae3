// The pages of a database that are no SQL, in a real browser: rules, log, snapshots, branches and endpoints, with words of
// strangers in each.
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Page } from "playwright-core";
import { signIn } from "../testing/person.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { launchBrowser, overflow, violations, withPage } from "./browser.ts";
import { type ConsoleWorld, openConsole } from "./console_world.ts";
import { furnishDatabase, type FurnishedDatabase } from "./furnished_database.ts";
import { unlooked } from "../testing/unlooked.ts";

const browser = await launchBrowser();
const ignore = browser === null;

const MARKUP = '<img src=x onerror="alert(1)">';
/** A word that no line may be broken in, longer than a phone is wide. */
const LONG = "w".repeat(120);
const hostileWords = {
  product: `${MARKUP}\u202egnp.exe`,
  table: `<b>order</b> ${LONG}`,
  purpose: `${MARKUP} ${LONG}`.slice(0, 200),
  note: `</textarea>${MARKUP}${LONG}`,
  endpoint: `</script>${MARKUP} ${LONG}`,
  token: `${MARKUP}${"t".repeat(60)}`,
  email: `${"m".repeat(50)}@northwind.example`,
};

interface World extends ConsoleWorld {
  readonly tenant: TestNamespace;
  readonly furnished: FurnishedDatabase;
  look(path: string, look: (page: Page) => Promise<void>): Promise<void>;
  first(sql: string): Promise<unknown>;
}

async function openWorld(): Promise<World> {
  const archive = await Deno.makeTempDir();
  const world = await openConsole({ settings: { TENANTS_URL: "file:", ARCHIVE_URL: `file:${archive}/of` } });
  const { app, url, signedIn } = world;
  const tenant = await app.namespace("northwind");
  const database = await tenant.createDatabase("catalog");
  const furnished = await furnishDatabase(app, tenant, { database, words: hostileWords });
  const admin = await signIn(app, { role: "admin", namespace: "northwind" });
  const options = { ...signedIn(admin), viewport: { width: 1280, height: 800 } };
  return {
    ...{ ...world, tenant, furnished },
    stop: async () => {
      await world.stop();
      await Deno.remove(archive, { recursive: true });
    },
    look: async (path, look) => {
      if (browser) await withPage(browser, url + path, options, look);
    },
    first: async (sql) => {
      const { token } = tenant;
      return rowsOf(await app.request("POST", `${database.path}/query`, { token, body: { sql } }))[0]?.[0];
    },
  };
}

const THEMES = ["light", "dark"] as const;

/** What a reader with either theme meets, wide and on a phone, with the keyboard and without. */
async function assertReadable(
  page: Page,
  themes: readonly (typeof THEMES)[number][] = THEMES,
): Promise<void> {
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // Only colours differ between the two.
    const which = colorScheme === "light" ? "all" : "contrast";
    assertEquals(await violations(page, which), [], `${page.url()} ${colorScheme}`);
  }
  assertEquals(await page.evaluate(CUT_OFF), [], `cut off: ${page.url()}`);
  await page.setViewportSize({ width: 360, height: 740 });
  assertEquals(await overflow(page), 0, page.url());
  assertEquals(await page.evaluate(CUT_OFF), [], `cut off on a phone: ${page.url()}`);
  await page.setViewportSize({ width: 1280, height: 800 });
}

/** Controls and names that reach out of their card, which hides what does, also where it opens. */
const CUT_OFF = `document.querySelectorAll("details.menu").forEach((menu) => menu.open = true),
[...document.querySelectorAll(".card")].flatMap((card) => {
  const { right } = card.getBoundingClientRect();
  return [...card.querySelectorAll("a, button, code, input, select, textarea")]
    .filter((one) => one.closest(".scroll, pre, .copy-line, .copy") === null && one.getBoundingClientRect().right > right)
    .map((one) => one.outerHTML.slice(0, 100));
})`;

/** Goes through the page by Tab, and answers what takes the focus without being seen to. */
async function unmarkedStops(page: Page): Promise<string[]> {
  const unmarked: string[] = [];
  const stops = await page.evaluate<number>(
    `[...document.querySelectorAll("main :is(a, button, input:not([type=hidden]), select, textarea, summary)")]` +
      ".filter((one) => one.checkVisibility()).length",
  );
  await page.evaluate("document.querySelector('main').focus()");
  const met = new Set<string>();
  for (let stop = 0; stop < stops; stop++) {
    await page.keyboard.press("Tab");
    const [place, marked, text] = await page.evaluate<[string, boolean, string]>(FOCUSED);
    met.add(place);
    if (!marked) unmarked.push(text);
  }
  // Radio buttons of a group are one stop, and scrolling regions are further ones: most are met, and none twice.
  assertEquals(met.size, stops, "a stop comes twice");
  return unmarked;
}

const FOCUSED = `(() => {
  const one = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  const place = [...document.querySelectorAll("*")].indexOf(one);
  return [String(place), outlineStyle !== "none" && outlineWidth !== "0px", one.outerHTML.slice(0, 100)];
})()`;

/** The text of what is in the window; empty for what is above it or below. */
const nameInSight = (selector: string) =>
  `(() => {
    const one = document.querySelector("${selector}");
    const { top, bottom } = one.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight ? (one.querySelector(".name") ?? one).textContent : "";
  })()`;
/** Whether the page is more than two windows high. */
const TALLER = "document.documentElement.scrollHeight > 2 * innerHeight";

const steps: Readonly<Record<string, (world: World) => Promise<void>>> = {
  "every page is readable, also on a phone, whatever strangers have written": async (
    { look, url, furnished: { base, pages } },
  ) => {
    // In one tab: a tab for each page takes more of the processor than what is looked at.
    await look(base, async (page) => {
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(url + path, { waitUntil: "load" });
        // console_pages_test.ts has looked at the others' colours in the dark, which words do not change; its service
        // keeps no archive.
        await assertReadable(page, name === "archive" ? THEMES : ["light"]);
      }
    });
  },
  "every control of the longest form is reached by Tab, and seen to be": async (
    { look, furnished: { pages } },
  ) => {
    await look(pages["endpoint-new"] ?? "", async (page) => assertEquals(await unmarkedStops(page), []));
  },
  "the tables that a rule means stand there while one types": async ({ look, furnished: { base } }) => {
    await look(`${base}/rules`, async (page) => {
      await page.getByLabel("Tables").pressSequentially("ord");
      await page.locator("#meant", { hasText: "No table has such a name now" }).waitFor();
      await page.keyboard.type("*");
      await page.locator("#meant", { hasText: "Means 1 table now: orders" }).waitFor();
      await page.getByRole("checkbox", { name: "Deletes" }).check();
      await page.getByRole("button", { name: "Add the rule" }).click();
      await page.getByRole("heading", { name: "Deletes of ord*" }).waitFor();
    });
  },
  "the log is narrowed to what one person has run": async ({ look, furnished: { base } }) => {
    await look(`${base}/log`, async (page) => {
      await page.getByLabel("Who").selectOption({ label: hostileWords.email });
      await page.getByRole("button", { name: "Show" }).click();
      await page.waitForURL(/who=mem_/);
      assertEquals(await page.locator("tbody tr").count(), 1);
      await page.getByRole("link", { name: "SELECT id, name FROM products" }).click();
      await page.getByText("Rows read").waitFor();
      await page.getByRole("link", { name: hostileWords.email }).waitFor();
    });
  },
  "a branch is merged by what was seen": async ({ look, furnished: { base }, first }) => {
    await look(`${base}/branches`, async (page) => {
      await page.getByRole("link", { name: "winter-sale", exact: true }).click();
      await page.getByLabel("Where both have changed something").selectOption("theirs");
      await page.getByRole("button", { name: "Show what it does" }).click();
      assertEquals(await first("SELECT price_cents FROM products WHERE id = 1"), 4900);
      await page.getByRole("button", { name: "Merge 4 rows" }).click();
      await page.getByText("The branch is merged.").waitFor();
      assertEquals(await first("SELECT price_cents FROM products WHERE id = 1"), 4410);
    });
  },
  "a snapshot is restored as it was shown, and that is undone": async (
    { look, furnished: { base }, first },
  ) => {
    const count = "SELECT count(*) FROM orders";
    await look(`${base}/snapshots`, async (page) => {
      await page.getByRole("link", { name: "Restore before-the-sale" }).click();
      await page.getByText("Whatever was written since goes too.").waitFor();
      await page.getByRole("button", { name: "Restore it in place" }).click();
      await page.getByRole("link", { name: "undo the restore" }).waitFor();
      assertEquals(await first(count), 3);
      await page.getByRole("link", { name: "undo the restore" }).click();
      await page.getByRole("button", { name: "Restore it in place" }).click();
      await page.getByRole("link", { name: "undo the restore" }).waitFor();
      assertEquals(await first(count), 2);
    });
  },
  "the moment before a write is looked at from the archive, by keys only, brought back, and that is undone":
    async (
      { look, furnished: { base }, first },
    ) => {
      const count = "SELECT count(*) FROM orders";
      assertEquals(await first(count), 2);
      await look(`${base}/archive`, async (page) => {
        const write = page.locator("tr", { hasText: "DELETE FROM orders WHERE id = 2" });
        await write.getByRole("button", { name: /^Just before/ }).focus();
        await page.keyboard.press("Enter");
        await page.getByText(/as it was at \d{4}-\d\d-\d\d/).waitFor();
        await assertReadable(page);
        await page.getByText(/rows in orders, .*become what they were/).waitFor();
        assertEquals(await first(count), 2);
        await page.getByRole("button", { name: "Restore it in place" }).press("Enter");
        await page.getByRole("link", { name: "undo the restore" }).press("Enter");
        assertEquals(await first(count), 3);
        await page.getByRole("button", { name: "Restore it in place" }).press("Enter");
        await page.getByRole("link", { name: "undo the restore" }).waitFor();
        assertEquals(await first(count), 2);
      });
    },
  "among hundreds of tables the open one is seen in the list, which moves without the page": async (
    { app, look, tenant },
  ) => {
    const { token } = tenant;
    const { path } = await tenant.createDatabase("many");
    for (const hundred of [0, 1, 2, 3, 4, 5]) {
      const statements = Array.from({ length: 100 }, (_, at) => ({
        sql: `CREATE TABLE t${hundred}${String(at).padStart(2, "0")} (id INTEGER PRIMARY KEY)`,
      }));
      const { status, text } = await app.request("POST", `${path}/batch`, { token, body: { statements } });
      assertEquals(status, 200, text);
    }
    const base = "/console/northwind/db/many";
    for (const name of ["t250", "t599"]) {
      await look(`${base}/tables/${name}`, async (page) => {
        assertEquals(await page.evaluate(nameInSight(".schema [aria-current=page]")), name);
        assertEquals(await page.evaluate("scrollY"), 0);
        assertEquals(await page.evaluate(TALLER), false);
        assertEquals(await violations(page), []);
        await page.getByRole("link", { name: "All 600 tables" }).waitFor();
      });
    }
    await look(`${base}/sql`, async (page) => {
      await page.locator("form[data-ready]").waitFor();
      const table = page.getByText("t199", { exact: true });
      await table.scrollIntoViewIfNeeded();
      await table.dblclick();
      assertEquals(await page.evaluate(nameInSight(".cm-content")), "t199");
      assertEquals(await page.evaluate(TALLER), false);
    });
  },
  "who stores a description takes back none that somebody else has stored meanwhile": async (
    { app, look, tenant },
  ) => {
    const { token } = tenant;
    const { path } = await tenant.createDatabase("described");
    const sql = "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)";
    await app.request("POST", `${path}/query`, { token, body: { sql } });
    const describe = async (told: object) => {
      const body = { tables: [{ table: "notes", ...told }] };
      const { status, text } = await app.request("PUT", `${path}/describe`, { token, body });
      assertEquals(status, 200, text);
    };
    await describe({ columns: [{ column: "id", description: "two\nlines" }] });
    await look("/console/northwind/db/described?table=notes", async (page) => {
      await describe({ description: "Newer words" });
      await page.getByLabel("body").fill("What was written");
      await page.getByRole("button", { name: "Store the descriptions" }).click();
      await page.getByText("The descriptions are stored.").waitFor();
    });
    const { text } = await app.request("GET", `${path}/describe`, { token });
    for (const kept of ["Newer words", "two\\nlines", "What was written"]) assert(text.includes(kept), text);
  },
  "an endpoint is checked while one writes it, tried and published": async (
    { app, look, furnished: { base } },
  ) => {
    await look(`${base}/endpoints/-/new`, async (page) => {
      await page.getByLabel("Slug").fill("one-product");
      await page.locator("#name-field").fill("One product");
      const statement = page.getByLabel("Statement");
      await statement.pressSequentially("SELECT nme FROM products WHERE id = ?");
      await page.locator("#found", { hasText: "nme" }).waitFor();
      await statement.fill("SELECT name FROM products WHERE id = ?");
      await page.getByText("Add an input").click();
      const input = page.getByRole("group", { name: "Input 1" });
      await input.getByLabel("Name").fill("id");
      // The last of the checks, for which the one before may have to give way.
      const last = page.waitForResponse((response) =>
        (response.request().postData() ?? "").includes("input.0.type=integer")
      );
      await input.getByLabel("Type").selectOption("integer");
      await last;
      await page.getByText("It can be saved like this.").waitFor();
      await page.getByRole("button", { name: "Make the draft" }).click();
      await page.locator("#in\\.id-field").fill("2");
      await page.getByRole("button", { name: "Try it" }).click();
      await page.getByRole("region", { name: "What it answered" }).getByText("Camp stove").waitFor();
      await page.getByRole("button", { name: "Publish it" }).click();
      await page.getByRole("button", { name: "Pause it" }).waitFor();
      const { status, text } = await app.request("GET", "/p/northwind/catalog/one-product?id=2");
      assertEquals(status, 200);
      assertMatch(text, /Camp stove/);
    });
  },
};

Deno.test({
  name: "rules, log, snapshots, branches and endpoints in a browser",
  ignore,
  fn: async (t) => {
    const world = await openWorld();
    try {
      for (const [name, step] of Object.entries(steps)) {
        await t.step({ name, ...unlooked, fn: () => step(world) });
      }
    } finally {
      await world.stop();
    }
  },
  ...unlooked,
});

Deno.test({ name: "the browser ends", fn: async () => await browser?.close(), ...unlooked });
