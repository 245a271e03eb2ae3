// The whole story of an approval in a real browser: an agent is held, a person opens the link on a phone, signs in by
// passkey, sees the rows and approves; the agent redeems; the page shows what became of it by itself, and takes it back.
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Page } from "playwright-core";
import { addMember } from "../../lib/services/people/manage_members.ts";
import { signIn } from "../testing/person.ts";
import { decisionWorld } from "../writes/decision_world.ts";
import { addAuthenticator, launchBrowser, overflow, violations, withPage } from "./browser.ts";
import { openConsole } from "./console_world.ts";
import { unlooked } from "../testing/unlooked.ts";

const browser = await launchBrowser();
/** For what a window has and a page has not. */
const wholeBrowser = await launchBrowser({ whole: true });
const ignore = browser === null || wholeBrowser === null;
const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true };
/** Keeps the titles of a page's notifications, which nobody sees here. */
const RECORD_NOTIFICATIONS = `globalThis.told = [];
globalThis.Notification = class extends Notification {
  constructor(title, options) {
    super(title, options);
    told.push(title);
  }
};`;

/** Comes in by the invitation that is open, with a passkey. */
async function comeIn(page: Page, name: string): Promise<void> {
  await addAuthenticator(page);
  await page.getByLabel("Your name").fill(name);
  await page.getByRole("button", { name: "Come in with a passkey" }).click();
  await page.waitForURL("**/console/acme");
}

async function assertReadable(page: Page): Promise<void> {
  assertEquals(await overflow(page), 0, page.url());
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    assertEquals(await violations(page, colorScheme === "light" ? "all" : "contrast"), []);
  }
}

Deno.test({ name: "approvals in a browser", ignore, ...unlooked }, async (t) => {
  if (browser === null || wholeBrowser === null) return;
  const world = await openConsole();
  const decisions = await decisionWorld(world.app, "acme");
  const step = (name: string, fn: () => Promise<void>) => t.step({ name, fn, ...unlooked });

  const operator = { ...world.app.deps, caller: { kind: "operator" } as const };
  const invite = async (email: string) =>
    (await addMember(operator, { namespaceSlug: "acme", email, role: "admin" })).inviteUrl;
  const pageOf = (id: string) => `${world.url}/console/acme/approvals/${id}`;

  await step("from the link on a phone to the undo, without one reload by hand", async () => {
    const sql = `UPDATE items SET price = price * ? WHERE id < 4${" ".repeat(300)}AND name IS NOT NULL`;
    const { agent, shop, rows } = decisions;
    const answer = await shop.query(sql, [2], { token: agent.token });
    const { approvalUrl, approvalToken } = JSON.parse(answer.text);
    const { pathname } = new URL(approvalUrl);
    await withPage(browser, await invite("mara@example.com"), PHONE, async (page) => {
      // Some days before: the phone made a passkey. The session of then is over.
      await comeIn(page, "Mara Lind");
      await page.context().clearCookies();
      await page.goto(world.url + pathname);
      await page.getByRole("button", { name: "Sign in with a passkey" }).click();
      await page.getByRole("heading", { name: "test asks to change 3 rows of items" }).waitFor();
      assertEquals(new URL(page.url()).pathname, pathname);
      // Rows are cards here: nobody scrolls sideways to see what is decided.
      await page.getByRole("region", { name: "Rows of items, before and after" }).getByText("item 3")
        .waitFor();
      // Nor to read the statement, whatever white space is in it.
      const statement = page.getByRole("region", { name: "Statement, text" });
      assert(await statement.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth));
      await assertReadable(page);
      await page.getByRole("link", { name: "Decide" }).click();
      await page.getByRole("button", { name: "Approve 3 rows" }).click();
      await page.getByText("Approved by mara@example.com").waitFor();
      const redeemed = await decisions.redeem({ id: "", approvalToken });
      assertEquals(redeemed.status, 200, redeemed.text);
      await page.getByText("3 rows written").waitFor();
      assertEquals(await rows("SELECT price FROM items WHERE id < 4"), [[20], [40], [60]]);
      await page.getByRole("button", { name: "Take it back" }).click();
      await page.getByRole("heading", { name: "Take it back in main?" }).waitFor();
      await assertReadable(page);
      await page.getByRole("button", { name: "Take it back" }).click();
      await page.getByText("Taken back by mara@example.com").waitFor();
    });
    assertEquals(await rows("SELECT price FROM items WHERE id < 4"), [[10], [20], [30]]);
  });

  await step("the inbox leads to what waits, and the page shows what somebody else has decided", async () => {
    const person = await signIn(world.app, { role: "admin" });
    const held = await decisions.hold("DELETE FROM items WHERE id = 7");
    await withPage(browser, `${world.url}/console/acme/approvals`, world.signedIn(person), async (page) => {
      const link = page.getByRole("link", { name: "test asks to delete 1 row of items, and 2 more" });
      await link.waitFor();
      await assertReadable(page);
      await link.click();
      await page.getByRole("button", { name: "Approve 3 rows" }).waitFor();
      await page.getByLabel("Reason for a denial").fill("Not while I look");
      await decisions.call("POST", held.id, "deny", { body: { reason: "Somebody was faster" } });
      await page.getByText("Somebody was faster").waitFor();
      await assertReadable(page);
    });
  });

  await step("the inbox tells by a notification what has come, for whoever has asked for it", async () => {
    const person = await signIn(world.app, { role: "admin" });
    const options = { ...world.signedIn(person), permissions: ["notifications"] };
    await withPage(wholeBrowser, `${world.url}/console/acme/approvals`, options, async (page) => {
      await page.addInitScript(RECORD_NOTIFICATIONS);
      await page.clock.install();
      await page.reload();
      const told = () => page.evaluate<string[]>("globalThis.told");
      await decisions.hold("DELETE FROM items WHERE id = 8");
      await page.clock.runFor(10_000);
      const sentence = "test asks to delete 1 row of items, and 1 more";
      await page.getByRole("link", { name: sentence }).waitFor();
      assertEquals(await told(), []);
      await page.getByRole("button", { name: "Notify me" }).click();
      await page.getByText("Notifications are on while the inbox is open").waitFor();
      assertEquals(await told(), ["You are told here of what waits"]);
      await assertReadable(page);
      await decisions.hold("DELETE FROM items WHERE id = 9");
      await page.clock.runFor(10_000);
      await page.getByRole("link", { name: "test asks to delete 1 row of items", exact: true }).waitFor();
      // The page is there before its script has run.
      await page.waitForFunction("globalThis.told.length > 0");
      assertEquals(await told(), ["test asks to delete 1 row of items"]);
      await page.getByRole("button", { name: "Stop notifying" }).click();
      await page.getByText("Notifications are off").waitFor();
    });
  });

  await step(
    "a long word in a row pushes nothing that changes out of sight, wide and on a phone",
    async () => {
      const words = `CASE id WHEN 20 THEN '${"w".repeat(79)}' ELSE '${"x".repeat(3000)}' END`;
      const named = await decisions.hold(`UPDATE items SET name = ${words} WHERE id IN (20, 21)`);
      await decisions.approve(named.id);
      assertEquals((await decisions.redeem(named)).status, 200);
      const held = await decisions.hold("UPDATE items SET price = price * 2 WHERE id IN (20, 21)");
      const person = await signIn(world.app, { role: "admin" });
      await withPage(browser, pageOf(held.id), world.signedIn(person), async (page) => {
        for (const width of [1280, 360]) {
          await page.setViewportSize({ width, height: 740 });
          await page.getByRole("region", { name: "Rows of items, before and after" }).waitFor();
          const hidden =
            "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.scroll'))";
          assertEquals(await page.evaluate<number>(hidden), 0, `at ${width}`);
          await assertReadable(page);
        }
      });
      await decisions.call("POST", held.id, "deny");
    },
  );

  await step("a session that ends while one writes a reason takes nothing of it away", async () => {
    const held = await decisions.hold("DELETE FROM items WHERE id = 11");
    const options = { refusals: [401] };
    await withPage(browser, await invite("ines@example.com"), options, async (page) => {
      await comeIn(page, "Ines");
      await page.goto(pageOf(held.id));
      await page.getByLabel("Reason for a denial").fill("Not before the sale");
      await page.context().clearCookies();
      // What the page asks for by itself meanwhile leaves the field alone.
      await page.waitForResponse("**/since?**");
      assertEquals(await page.getByLabel("Reason for a denial").inputValue(), "Not before the sale");
      await page.getByRole("button", { name: "Deny" }).click();
      await page.getByRole("button", { name: "Sign in with a passkey" }).click();
      await page.getByRole("button", { name: "Send it" }).click();
      await page.getByText("Denied by ines@example.com").waitFor();
      await page.getByText("Not before the sale").waitFor();
    });
    assertEquals((await decisions.show(held.id)).state, "denied");
  });

  await step("of two people who press at once one decides, and the other page says so", async () => {
    const held = await decisions.hold("DELETE FROM items WHERE id = 12");
    const press = async (button: string, ready: () => Promise<void>) => {
      const person = await signIn(world.app, { role: "admin" });
      const options = { ...world.signedIn(person), refusals: [409] };
      let words = "";
      await withPage(browser, pageOf(held.id), options, async (page) => {
        // Nobody learns of the other's decision before the own one.
        await page.route("**/since?**", (route) => route.fulfill({ status: 200 }));
        await ready();
        await page.getByRole("button", { name: button }).click();
        await page.getByText(/(?:Approved|Denied) by/).first().waitFor();
        words = await page.locator("main").innerText();
      });
      return words;
    };
    const both = Promise.withResolvers<void>();
    let here = 0;
    const ready = () => {
      if (++here === 2) both.resolve();
      return both.promise;
    };
    const pages = await Promise.all([press("Approve 1 row", ready), press("Deny", ready)]);
    const { state } = await decisions.show(held.id);
    assert(state === "approved" || state === "denied", state);
    const word = state === "approved" ? "Approved by" : "Denied by";
    assert(pages.every((words) => words.includes(word)), pages.join());
    const late = pages[state === "approved" ? 1 : 0] ?? "";
    assertMatch(late, /has been decided/);
  });

  await world.stop();
  await browser.close();
  await wholeBrowser.close();
});
