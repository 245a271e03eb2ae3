// Every page of the console in a real browser: nothing wrong for axe-core in both themes, nothing in the console of the
// browser, nothing that scrolls sideways on a phone. And how people get in and out by passkey, which only browsers have.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { addMember } from "../../lib/services/people/manage_members.ts";
import { pagesTable } from "../../routes/console/pages_table.ts";
import { signIn } from "../testing/person.ts";
import {
  addAuthenticator,
  assertSmall,
  launchBrowser,
  overflow,
  violations,
  WITHOUT_CLIPBOARD,
  withPage,
} from "./browser.ts";
import { type ConsoleWorld, openConsole } from "./console_world.ts";
import { furnish, type FurnishedPage, openFurnished, personFor } from "./furnished.ts";
import { unlooked } from "../testing/unlooked.ts";

const WIDE = { width: 1280, height: 900 };
const CLIPBOARD = { viewport: WIDE, permissions: ["clipboard-read", "clipboard-write"] };
const NARROW = { width: 360, height: 740 };

const browser = await launchBrowser();

interface Parts {
  readonly browser: NonNullable<typeof browser>;
  readonly world: ConsoleWorld;
  readonly pages: readonly FurnishedPage[];
}

/** Name → what is looked at, one after the other in the same console. */
const steps: [name: string, look: (parts: Parts) => Promise<void>][] = [];

function browserTest(name: string, look: (parts: Parts) => Promise<void>): void {
  steps.push([name, look]);
}

/** Widths with the rail at which a list beside a form has the least room: in one column, and in two. */
const TIGHT = [961, 1265];
/** Columns of lists beside a form that one has to move the list to see. */
const MOVED_LISTS =
  `[...document.querySelectorAll(".beside .scroll")].filter((one) => one.scrollWidth > one.clientWidth + 1)
    .map(({ ariaLabel, textContent }) => ariaLabel ?? textContent.slice(0, 80))`;

/** Names of fields for words of people that run from left to right whatever stands in them. */
const LEFT_TO_RIGHT =
  `[...document.querySelectorAll("input:is([type=text], [type=search], :not([type])), textarea:not(.code, .sql-field)")]
    .filter((one) => getComputedStyle(one).unicodeBidi !== "plaintext").map(({ name }) => name)`;

browserTest(
  "axe-core finds nothing wrong with any page of the console, none scrolls sideways at 360 px, and scripts are small",
  async ({ browser, world, pages }) => {
    // What is refused tells so with its status, which the browser writes to its console.
    const answered = pages.filter(({ status = 200 }) => status < 400);
    for (const [who, own] of Map.groupBy(answered, (page) => page.who)) {
      const person = await personFor(world.app, who);
      const signedIn = person === null ? {} : world.signedIn(person);
      // Colours that are on their way from one theme to the other are nobody's.
      const options = { ...signedIn, viewport: WIDE, reducedMotion: "reduce" } as const;
      await withPage(browser, `${world.url}/console`, options, async (page) => {
        // Hours later: every time stands as a whole date, which needs more room than "just now".
        await page.addInitScript("const { now } = Date; Date.now = () => now() + 3 * 3_600_000;");
        for (const shown of own) {
          const { path } = shown;
          await page.emulateMedia({ colorScheme: "light" });
          await page.setViewportSize(WIDE);
          await openFurnished(page, world.url, shown);
          await assertSmall(page);
          assertEquals(await page.evaluate(LEFT_TO_RIGHT), [], path);
          assertEquals(await violations(page), [], `${path}, light`);
          for (const width of TIGHT) {
            await page.setViewportSize({ width, height: WIDE.height });
            assertEquals(await page.evaluate(MOVED_LISTS), [], `${path}, ${width} px`);
          }
          await page.emulateMedia({ colorScheme: "dark" });
          await page.setViewportSize(NARROW);
          assertEquals(await violations(page, "contrast"), [], `${path}, dark`);
          assertEquals(await overflow(page), 0, path);
        }
      });
    }
  },
);

/** Addresses that are no pages of their own. */
const NO_PAGES: Readonly<Record<string, string>> = {
  "/console": "leads to a page",
  "/console/-/assets/:hash/:name": "what pages are made of",
  "/console/-/connect": "belongs to the question of a client: console_connect_test.ts looks at it",
  "/console/:ns/approvals/since": "asked by the page itself, without an answer to look at",
  "/console/:ns/approvals/:id/since": "asked by the page itself, without an answer to look at",
  "/console/:ns/db/:db/findings": "put into the overview; a page of its own without script",
};

browserTest("every page of the table of pages is among those that are looked at", ({ pages }) => {
  const patterns = pagesTable.filter(({ method }) => method === "GET").map(({ path }) => path);
  const shown = new Set(pages.map(({ path, sent }) => sent ? "" : path.split("?")[0] ?? ""));
  const seen = (pattern: string) => {
    const like = new RegExp(`^${pattern.replace(/:\w+/g, "[^/]+")}$`);
    // What a more exact pattern is for shows nothing of this one.
    return [...shown].some((path) =>
      like.test(path) && !patterns.some((other) => other === path && other !== pattern)
    );
  };
  assertEquals(patterns.filter((path) => !seen(path)), Object.keys(NO_PAGES));
  return Promise.resolve();
});

browserTest(
  "without script every page shows what it is about, and nothing that only a script could press",
  async (
    { browser, world, pages },
  ) => {
    const answered = pages.filter(({ status = 200, sent }) => status < 400 && sent === undefined);
    for (const [who, own] of Map.groupBy(answered, (page) => page.who)) {
      const person = await personFor(world.app, who, `plain-${who}@northwind.example`);
      const signedIn = person === null ? {} : world.signedIn(person);
      const options = { ...signedIn, viewport: NARROW, javaScriptEnabled: false };
      await withPage(browser, `${world.url}/console/-/sign-in`, options, async (page) => {
        for (const shown of own) {
          await page.goto(world.url + shown.path, { waitUntil: "load" });
          assert((await page.locator("main, .card").first().innerText()).length > 20, shown.path);
          const dead = page.locator("button[type=button]:not([popovertarget]):visible");
          assertEquals(
            await dead.evaluateAll((found) => found.map((one) => one.outerHTML.slice(0, 200))),
            [],
            shown.path,
          );
          assertEquals(await overflow(page), 0, shown.path);
        }
      });
    }
  },
);

browserTest(
  "somebody comes in by a link with a passkey, signs out, and signs in with one touch on a phone",
  async ({ browser, world }) => {
    const { app, url } = world;
    const ctx = { ...app.deps, caller: { kind: "operator" } as const };
    const input = { namespaceSlug: "northwind", email: "ada@example.com", role: "admin" } as const;
    const { inviteUrl } = await addMember(ctx, input);
    await withPage(browser, inviteUrl, { viewport: NARROW }, async (page) => {
      await addAuthenticator(page);
      await page.getByLabel("Your name").fill("Ada");
      await page.getByRole("button", { name: "Come in with a passkey" }).click();
      await page.waitForURL("**/console/northwind");
      await page.goto(`${url}/console/-/account`);
      await page.getByText("First passkey").waitFor();
      assertEquals(await violations(page), []);
      await page.getByRole("button", { name: "Menu" }).click();
      await page.locator("#rail").getByRole("button", { name: "Sign out" }).click();
      await page.waitForURL(/\/-\/sign-in\?ns=northwind$/);
      await page.goto(`${url}/console/northwind/usage`);
      await page.getByRole("button", { name: "Sign in with a passkey" }).click();
      await page.waitForURL("**/console/northwind/usage");
      assertMatch(await page.locator(".account").first().innerText(), /Ada/);
      await page.goto(`${url}/console/-/account`);
      await page.getByLabel("Remove First passkey").click();
      // Nothing is sent yet.
      await page.getByRole("button", { name: "Remove the passkey" }).waitFor();
    });
  },
);

browserTest("a theme is chosen for all pages, with script and without", async ({ browser, world }) => {
  const person = await signIn(world.app, { role: "viewer", namespace: "northwind" });
  for (const javaScriptEnabled of [true, false]) {
    const options = {
      ...world.signedIn(person),
      viewport: WIDE,
      javaScriptEnabled,
      colorScheme: "light",
    } as const;
    await withPage(browser, `${world.url}/console/northwind`, options, async (page) => {
      const button = (name: string) => page.getByRole("button", { name }).click();
      await button("Dark theme");
      await page.locator('html[data-theme="dark"]').waitFor();
      await page.getByRole("link", { name: "Usage" }).click();
      await page.locator('html[data-theme="dark"]').waitFor();
      await button("Light theme");
      await page.locator('html[data-theme="light"]').waitFor();
      await button("Theme of the system");
      await page.locator("html:not([data-theme])").waitFor();
    });
  }
});

browserTest(
  "a token is copied where scripts have no clipboard, as without https",
  async ({ browser, world }) => {
    const person = await signIn(world.app, { role: "admin", namespace: "northwind" });
    const options = { ...world.signedIn(person), ...CLIPBOARD };
    await withPage(browser, `${world.url}/console/northwind/tokens`, options, async (page) => {
      await page.addInitScript(WITHOUT_CLIPBOARD);
      await page.getByLabel("What it is for").fill("day job");
      await page.keyboard.press("Enter");
      const copy = page.getByRole("button", { name: "Copy the token" });
      await copy.click();
      await copy.getByText("Copied").waitFor();
      assertMatch(await page.evaluate<string>("kept.readText()"), /^cub_live_\w+$/);
      assertEquals(await page.evaluate<number>("document.querySelectorAll('textarea').length"), 0);
      assertEquals(await page.evaluate<string>("document.activeElement.tagName"), "BUTTON");
    });
  },
);

browserTest(
  "where the browser refuses to copy, the button says so and the text is selected",
  async ({ browser, world }) => {
    const person = await signIn(world.app, { role: "admin", namespace: "northwind" });
    const options = { ...world.signedIn(person), viewport: WIDE };
    await withPage(browser, `${world.url}/console/northwind/db/main`, options, async (page) => {
      await page.evaluate(
        "navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError'))",
      );
      const copy = page.getByRole("button", { name: /^Copy/ });
      await copy.click();
      await copy.getByText("Not copied, but selected").waitFor();
      assertMatch(await page.evaluate<string>("getSelection().toString()"), /^curl -H/);
      assertEquals(await page.getByRole("status").getByText("Not copied").count(), 1);
    });
  },
);

browserTest(
  "where nothing can be selected, a button that cannot copy does not say that something is",
  async ({ browser, world }) => {
    const person = await signIn(world.app, { role: "admin", namespace: "northwind" });
    const options = { ...world.signedIn(person), viewport: WIDE };
    await withPage(browser, `${world.url}/console/northwind/db/main`, options, async (page) => {
      await page.evaluate(`
        navigator.clipboard.writeText = () => Promise.reject(new DOMException("no", "NotAllowedError"));
        document.querySelector(".copy-line code").remove();`);
      const copy = page.getByRole("button", { name: /^Copy/ });
      await copy.click();
      await copy.getByText("Not copied", { exact: true }).waitFor();
    });
  },
);

browserTest("what is shown once is not made again by a reload", async ({ browser, world }) => {
  const slug = "reloads";
  await world.app.namespace(slug);
  const person = await signIn(world.app, { role: "admin", namespace: slug });
  const options = { ...world.signedIn(person), viewport: WIDE };
  const forms = [
    { path: "tokens", field: "What it is for", text: "once" },
    { path: "members", field: "E-mail", text: "once@example.com" },
    { path: "db/main/branches", field: "What for", text: "once" },
    { path: "db/main/webhooks", field: "Address", text: "https://once.example/hooks" },
  ];
  await withPage(browser, `${world.url}/console/${slug}`, options, async (page) => {
    let sent = 0;
    page.on("request", (request) => sent += Number(request.method() === "POST"));
    for (const { path, field, text } of forms) {
      sent = 0;
      await page.goto(`${world.url}/console/${slug}/${path}`, { waitUntil: "load" });
      await page.getByLabel(field).fill(text);
      await page.getByLabel(field).press("Enter");
      await page.getByText("Shown once").waitFor();
      // By then the page's script has given the page an address that can be loaded again.
      await page.waitForLoadState("load");
      await page.reload({ waitUntil: "load" });
      assertEquals(await page.getByText("Shown once").count(), 0, path);
      assertEquals(sent, 1, path);
    }
  });
});

browserTest(
  "a form that comes back is looked at where it is wrong, on a phone too",
  async ({ browser, world }) => {
    const person = await signIn(world.app, { role: "admin", namespace: "northwind" });
    const options = { ...world.signedIn(person), viewport: NARROW, refusals: [400, 409] };
    await withPage(browser, `${world.url}/console/northwind`, options, async (page) => {
      const slug = page.locator("#slug-field");
      const topOf = async (selector: string) => (await page.locator(selector).boundingBox())?.y ?? -1;
      await slug.fill("No Slug");
      await slug.press("Enter");
      const wrong = page.locator("#slug-field[aria-invalid]");
      await wrong.waitFor();
      assertEquals(await wrong.evaluate((field) => field === field.ownerDocument.activeElement), true);
      assert(await topOf("#slug-wrong") < NARROW.height);
      await slug.fill("shop");
      await slug.press("Enter");
      await page.getByText("this one is taken").waitFor();
      const told = await topOf(".notice.bad, #slug-wrong");
      assert(told >= 0 && told < NARROW.height, String(told));
    });
  },
);

browserTest("a form that is sent by several clicks is sent once", async ({ browser, world }) => {
  const person = await signIn(world.app, { role: "admin", namespace: "northwind" });
  const options = { ...world.signedIn(person), viewport: WIDE };
  await withPage(browser, `${world.url}/console/northwind/tokens`, options, async (page) => {
    let sent = 0;
    const clicked = Promise.withResolvers<void>();
    await page.route("**/tokens", async (route) => {
      sent++;
      await clicked.promise;
      await route.continue();
    });
    await page.getByLabel("What it is for").fill("impatient");
    await page.evaluate(`(async () => {
      for (let click = 0; click < 3; click++) {
        document.querySelector("button.primary").click();
        await new Promise((go) => setTimeout(go, 50));
      }
    })()`);
    clicked.resolve();
    await page.getByRole("heading", { name: "impatient is made" }).waitFor();
    assertEquals(sent, 1);
  });
});

browserTest("a token is made, copied and revoked by keys alone", async ({ browser, world }) => {
  const person = await signIn(world.app, { role: "admin", namespace: "northwind" });
  const options = { ...world.signedIn(person), ...CLIPBOARD };
  await withPage(browser, `${world.url}/console/northwind/tokens`, options, async (page) => {
    await page.getByLabel("What it is for").fill("night job");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "night job is made" }).waitFor();
    await page.clock.install();
    await page.getByRole("button", { name: "Copy the token" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Copy the token" }).getByText("Copied").waitFor();
    // Pressed twice, it says what it does again.
    await page.keyboard.press("Enter");
    await page.clock.runFor(5_000);
    await page.getByRole("button", { name: "Copy the token" }).getByText("Copy", { exact: true }).waitFor();
    assertMatch(await page.evaluate<string>("navigator.clipboard.readText()"), /^cub_live_\w+$/);
    await page.getByRole("link", { name: "Revoke night job" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Revoke it" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("The token is revoked.").waitFor();
    assertEquals(await page.getByText("night job").count(), 0);
  });
});

/** What the focus is on; null at the end of the page, and ` below a bar` behind its name where a bar of the page covers all of it. */
const FOCUSED = `(() => {
  const one = document.activeElement;
  if (one === null || one === document.body || one.matches(".skip") && window.walked) return null;
  window.walked = true;
  const { left, right, top, bottom } = one.getBoundingClientRect();
  const bar = (y) => document.elementFromPoint((left + right) / 2, y)?.closest(".topbar, .decide-bar") ?? null;
  const covered = [top + 1, bottom - 1].every((y) => !(bar(y)?.contains(one) ?? true));
  return (one.ariaLabel ?? one.textContent).trim() + (covered ? " below a bar" : "");
})()`;

browserTest(
  "on a phone what is walked to by keys is never below a bar",
  async ({ browser, world, pages }) => {
    const person = await signIn(world.app, { role: "admin", namespace: "northwind" });
    const options = { ...world.signedIn(person), viewport: NARROW };
    for (const name of ["approvals-all", "approval-insert", "approval-came-back"]) {
      const shown = pages.find((page) => page.name === name);
      assert(shown);
      await withPage(browser, world.url + shown.path, options, async (page) => {
        const walked: string[] = [];
        // There and back: what is scrolled to comes from below, then from above.
        for (const key of ["Tab", "Shift+Tab"]) {
          for (let at: string | null = ""; at !== null;) {
            await page.keyboard.press(key);
            at = await page.evaluate<string | null>(FOCUSED);
            walked.push(at ?? "");
          }
          await page.evaluate("window.walked = false");
        }
        assert(walked.length > 20, String(walked.length));
        assertEquals(walked.filter((at) => at.endsWith(" below a bar")), [], name);
      });
    }
  },
);

browserTest(
  "where a system chooses the colours, what is open is told from the rest",
  async ({ browser, world }) => {
    const person = await signIn(world.app, { role: "admin", namespace: "northwind" });
    const options = {
      ...world.signedIn(person),
      viewport: WIDE,
      forcedColors: "active",
      reducedMotion: "reduce",
    } as const;
    await withPage(browser, `${world.url}/console/northwind/usage`, options, async (page) => {
      const colourOf = (one: string) => page.evaluate<string>(`getComputedStyle(${one}).backgroundColor`);
      const open = (list: string) => colourOf(`document.querySelector("${list} a[aria-current]")`);
      await page.evaluate(`document.body.append(document.createElement("hr"));
        document.querySelector("hr").style.background = "SelectedItem"`);
      const chosen = await colourOf('document.querySelector("hr")');
      assertEquals([await open(".rail nav"), await open(".segments")], [chosen, chosen]);
      await page.goto(`${world.url}/console/northwind/db/main/tables/products`, { waitUntil: "load" });
      assertEquals([await open(".tabs"), await open(".schema")], [chosen, chosen]);
    });
  },
);

browserTest(
  "on paper all rows and columns of a page stand there, in light colours",
  async ({ browser, world }) => {
    const { app, url } = world;
    const namespace = await app.namespace("on-paper");
    const columns = Array.from({ length: 14 }, (_, at) => `column_${at} TEXT DEFAULT 'what stands in it'`);
    await namespace.setup(
      `CREATE TABLE wide (id INTEGER PRIMARY KEY, ${columns.join(", ")})`,
      "INSERT INTO wide (id) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 40) SELECT i FROM n",
    );
    const person = await signIn(app, { role: "admin", namespace: "on-paper" });
    const options = { ...world.signedIn(person), viewport: { width: 700, height: 990 } };
    const cut = `[...document.querySelectorAll(".card, .scroll")].some((one) =>
    one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1)`;
    await withPage(browser, `${url}/console/on-paper/db/main/tables/wide`, options, async (page) => {
      assertEquals(await page.evaluate<boolean>(cut), true, "on the screen they are scrolled to");
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      assertEquals(await page.evaluate<boolean>(cut), false);
      for (const clicked of [".topbar", ".tabs", ".filters", ".button"]) {
        assertEquals(await page.locator(clicked).first().isVisible(), false, clicked);
      }
      assertEquals(
        await page.evaluate<string>("getComputedStyle(document.documentElement).colorScheme"),
        "light",
      );
    });
  },
);

browserTest("names without a space make no page wider than a phone", async ({ browser, world }) => {
  const { app, url } = world;
  const namespace = await app.namespace("long-names");
  const name = "n".repeat(120);
  await namespace.setup(`CREATE TABLE ${name} (id INTEGER PRIMARY KEY)`, `INSERT INTO ${name} VALUES (1)`);
  const email = `${name.slice(0, 60)}@example.com`;
  const person = await signIn(app, { role: "admin", namespace: "long-names", email });
  const options = { ...world.signedIn(person), viewport: NARROW };
  const table = `/console/long-names/db/main/tables/${name}`;
  await withPage(browser, `${url}/console/-/account`, options, async (page) => {
    for (const path of ["/console/-/account", table, `${table}?row=[1]`, "/console/long-names/members"]) {
      await page.goto(url + path, { waitUntil: "load" });
      for (const viewport of [WIDE, NARROW]) {
        await page.setViewportSize(viewport);
        assertEquals(await overflow(page), 0, path);
      }
    }
  });
});

/** Cards and rows before and after of which a part is cut off, or has to be scrolled to. */
const CUT_OFF = `[...document.querySelectorAll(".card, .scroll:has(.diff)")]
  .filter((one) => one.scrollWidth > one.clientWidth + 1).map(({ textContent }) => textContent.slice(0, 80))`;

browserTest(
  "words without a space are broken where they stand, and cut off nowhere",
  async ({ browser, world }) => {
    const { app, url } = world;
    const namespace = await app.namespace("long-words");
    const [table, word] = ["m".repeat(80), "w".repeat(500)];
    const neighbours = Array.from(
      { length: 61 },
      (_, at) => `CREATE TABLE n${at} (id INTEGER PRIMARY KEY, of INTEGER REFERENCES ${table} (id))`,
    );
    await namespace.setup(
      `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, body BLOB)`,
      "CREATE TABLE texts (k TEXT PRIMARY KEY) WITHOUT ROWID",
      `INSERT INTO texts VALUES ('${word}')`,
      ...neighbours,
    );
    const api = "/api/namespaces/long-words";
    const { token, database } = namespace;
    const description = { tables: [{ table, description: word }] };
    await app.request("PUT", `${database.path}/describe`, { token, body: description });
    const rule = { tableGlob: "texts", effect: "require_approval" };
    await app.request("POST", `${api}/databases/main/rules`, { token, body: rule });
    const held = await namespace.query("DELETE FROM texts WHERE k <> ''");
    const [approval] = /apv_\w+/.exec(held.text) ?? [];
    const email = `${"a".repeat(60)}@example.com`;
    const person = await signIn(app, { role: "admin", namespace: "long-words", email });
    const options = { ...world.signedIn(person), viewport: WIDE };
    const main = "/console/long-words/db/main";
    const approved = `/console/long-words/approvals/${approval}`;
    await withPage(browser, url + main, options, async (page) => {
      for (const path of [`${main}?table=${table}`, `${main}/tables/${table}`, approved]) {
        await page.goto(url + path, { waitUntil: "load" });
        for (const viewport of [WIDE, NARROW]) {
          await page.setViewportSize(viewport);
          assertEquals([await page.evaluate(CUT_OFF), await overflow(page)], [[], 0], path);
        }
      }
      await page.setViewportSize({ width: 1000, height: 740 });
      await page.goto(`${url}/console/long-words/tokens`, { waitUntil: "load" });
      const width = await page.locator(".grid.list tbody th").first().evaluate((head) =>
        head.getBoundingClientRect().width
      );
      assert(width > 150, `a name has ${width} pixels`);
    });
  },
);

Deno.test({
  name: "the console in a browser",
  ignore: browser === null,
  ...unlooked,
  fn: async (t) => {
    assert(browser);
    const world = await openConsole();
    try {
      const pages = await furnish(world.app);
      for (const [name, look] of steps) {
        await t.step({ ...unlooked, name, fn: () => look({ browser, world, pages }) });
      }
    } finally {
      await world.stop();
      await browser.close();
    }
  },
});
