// The documentation in a real browser.
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Page } from "playwright-core";
import { docPages } from "../../routes/docs/pages.ts";
import { type RunningService, startService } from "../testing/start_service.ts";
import { launchBrowser, overflow, violations, WITHOUT_CLIPBOARD, withPage } from "./browser.ts";

const WIDE = { viewport: { width: 1280, height: 900 } };
const NARROW = { viewport: { width: 360, height: 740 } };
/** Pixels by which the list of all pages is wider than its room. */
const LIST_OVERFLOW =
  "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.getElementById('contents'))";
const PATHS = ["/docs", "/docs?q=price+of+a+read", ...docPages.map(({ slug }) => `/docs/${slug}`)];

const folder = await Deno.makeTempDir({ prefix: "cubby_browser_" });
const browser = await launchBrowser();
const service = browser === null ? null : await startService({ folder, settings: { TENANTS_URL: "" } });

interface Parts {
  readonly browser: NonNullable<typeof browser>;
  readonly service: RunningService;
}

function browserTest(name: string, look: (parts: Parts) => Promise<void>): void {
  Deno.test({
    name,
    ignore: browser === null,
    fn: async () => {
      assert(browser && service);
      await look({ browser, service });
    },
  });
}

browserTest(
  "axe-core finds nothing wrong with any page, and neither one at 360 px nor its list of pages scrolls sideways",
  async ({ browser, service }) => {
    // In one tab: a tab for each page takes more of the processor than all that is looked at.
    await withPage(browser, `${service.url}/docs`, WIDE, async (page) => {
      for (const path of PATHS) {
        await page.emulateMedia({ colorScheme: "light" });
        await page.setViewportSize(WIDE.viewport);
        await page.goto(service.url + path, { waitUntil: "load" });
        assertEquals(await violations(page), [], `${path}, light`);
        assertEquals(await page.evaluate<number>(LIST_OVERFLOW), 0, `${path}, list of pages`);
        await page.emulateMedia({ colorScheme: "dark" });
        await page.setViewportSize(NARROW.viewport);
        assertEquals(await violations(page, "contrast"), [], `${path}, dark`);
        assertEquals(await overflow(page), 0, path);
      }
    });
  },
);

browserTest("a page is read without script", async ({ browser, service }) => {
  await withPage(
    browser,
    `${service.url}/docs/security`,
    { ...NARROW, javaScriptEnabled: false },
    async (page) => {
      assert(await page.getByRole("heading", { level: 1, name: "Security" }).isVisible());
      assertEquals(await page.locator(".copy").count(), 0);
      await page.locator(".toc-small summary").click();
      await page.locator(".toc-small a").last().click();
      assertMatch(page.url(), /#[a-z-]+$/);
    },
  );
});

browserTest("pages follow the scheme of the reader's system", async ({ browser, service }) => {
  const background = (page: Page) => page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  const seen: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await withPage(browser, `${service.url}/docs`, { colorScheme }, async (page) => {
      seen.push(await background(page));
    });
  }
  assertEquals(seen, ["rgb(251, 251, 249)", "rgb(17, 17, 16)"]);
});

browserTest("on a phone the contents open without script", async ({ browser, service }) => {
  await withPage(
    browser,
    `${service.url}/docs/agents`,
    { ...NARROW, javaScriptEnabled: false },
    async (page) => {
      const contents = page.getByRole("navigation", { name: "Contents" });
      assert(!await contents.isVisible());
      await page.getByRole("button", { name: "Contents" }).click();
      await contents.getByRole("link", { name: "Money" }).click();
      await page.waitForURL("**/docs/money");
    },
  );
});

browserTest(
  "the search works by its form alone, and shows hits while one types",
  async ({ browser, service }) => {
    await withPage(browser, `${service.url}/docs`, { ...WIDE, javaScriptEnabled: false }, async (page) => {
      await page.getByRole("searchbox").fill("restore a snapshot");
      await page.getByRole("searchbox").press("Enter");
      await page.waitForURL("**/docs?q=restore+a+snapshot");
      assert(await page.locator("ol.hits > li").count() > 0);
    });
    await withPage(browser, `${service.url}/docs`, WIDE, async (page) => {
      await page.keyboard.press("/");
      await page.keyboard.type("snapshot");
      const first = page.locator(".quick-hits a").first();
      await first.waitFor();
      assertEquals(await violations(page), []);
      await first.click();
      await page.waitForURL(/\/docs\/[a-z-]+(#.*)?$/);
    });
  },
);

browserTest("a block of code is copied by its button", async ({ browser, service }) => {
  const permissions = ["clipboard-read", "clipboard-write"];
  await withPage(browser, `${service.url}/docs/readme`, { ...WIDE, permissions }, async (page) => {
    const block = page.locator("figure.code", { hasText: "OPERATOR_KEY=" });
    await block.hover();
    await block.getByRole("button", { name: "Copy" }).click();
    await block.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await page.evaluate<string>("navigator.clipboard.readText()");
    assertMatch(copied, new RegExp(`^export TOKEN=cub_live_…\nOPERATOR_KEY=cub_op_…\nDB=${service.url}/v1/`));
  });
});

browserTest(
  "a block of code is copied where scripts have no clipboard, as without https",
  async ({ browser, service }) => {
    const permissions = ["clipboard-read", "clipboard-write"];
    await withPage(browser, `${service.url}/docs/readme`, { ...WIDE, permissions }, async (page) => {
      await page.addInitScript(WITHOUT_CLIPBOARD);
      await page.reload();
      const block = page.locator("figure.code", { hasText: "OPERATOR_KEY=" });
      await block.hover();
      await block.getByRole("button", { name: "Copy" }).click();
      await block.getByRole("button", { name: "Copied" }).waitFor();
      assertMatch(
        await page.evaluate<string>("kept.readText()"),
        /^export TOKEN=cub_live_…\nOPERATOR_KEY=cub_op_…\nDB=/,
      );
    });
  },
);

// In one page: to draw all operations takes more of the processor than what is looked at.
Deno.test({
  name: "the API page",
  ignore: browser === null,
  fn: async (t) => {
    assert(browser && service);
    const { output, url } = service;
    await withPage(browser, `${url}/docs`, { ...WIDE, colorScheme: "light" }, async (page) => {
      await t.step("it says that its calls are on their way, not that there are none", async () => {
        const asked = Promise.withResolvers<void>();
        await page.route("**/openapi.json", async (route) => {
          await asked.promise;
          await route.continue();
        });
        await page.goto(`${url}/docs/api`, { waitUntil: "domcontentloaded" });
        await page.getByText("Loading …").waitFor();
        assertEquals(await page.getByText("No operations").count(), 0);
        asked.resolve();
        await page.locator(".opblock").first().waitFor();
        assertEquals(await page.getByText("Loading …").count(), 0);
      });
      await t.step("axe-core finds nothing wrong with it, light and dark", async () => {
        assertEquals(await violations(page), []);
        await page.emulateMedia({ colorScheme: "dark" });
        // Colours that fade from one scheme to the other are looked at when they have arrived.
        await page.evaluate("for (const fading of document.getAnimations()) fading.finish()");
        assertEquals(await violations(page, "contrast"), []);
      });
      await t.step("it makes a real call with a token, and is no wider than the window", async () => {
        await page.setViewportSize(NARROW.viewport);
        await page.getByRole("button", { name: "Authorize" }).first().click();
        const dialog = page.locator(".modal-ux");
        await dialog.locator("input").first().fill(/cub_live_\w+/.exec(output())?.[0] ?? "");
        await dialog.getByRole("button", { name: "Apply credentials" }).first().click();
        await dialog.getByRole("button", { name: "Close" }).first().click();
        const call = page.locator("#operations-tokens-getV1Me");
        await call.locator(".opblock-summary-control").click();
        await call.getByRole("button", { name: "Execute" }).click();
        const answer = call.locator(".live-responses-table");
        await answer.waitFor();
        assertMatch(await answer.innerText(), /200[^]*"namespace[^]*demo"/);
        assertEquals(await overflow(page), 0);
        await page.setViewportSize(WIDE.viewport);
        assertEquals(await overflow(page), 0);
      });
    });
  },
});

Deno.test({
  name: "the browser and the service end",
  fn: async () => {
    await browser?.close();
    await service?.stop();
    await Deno.remove(folder, { recursive: true });
  },
  sanitizeOps: false,
  sanitizeResources: false,
});
