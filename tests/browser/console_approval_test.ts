// The whole story of an approval in a real browser: an agent is held, a person opens the link on a phone, signs in, sees the
// rows and approves; the agent redeems; the page shows what became of it by itself, and takes it back.
import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { normalPassword } from "../../lib/access/password_hash.ts";
import { newId } from "../../lib/core/ids.ts";
import { signIn } from "../testing/person.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { decisionWorld } from "../writes/decision_world.ts";
import { launchBrowser, overflow, violations, withPage } from "./browser.ts";
import { openConsole } from "./console_world.ts";

const browser = await launchBrowser();
const ignore = browser === null;
/** The browser was started by the file, and goes on between the steps. */
const unlooked = { sanitizeOps: false, sanitizeResources: false };
const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true };
const PASSWORD = "a long walk along the harbour";
const EMAIL = "mara@example.com";

/** An admin who signs in by password. */
async function addMara({ deps }: StartedApp): Promise<void> {
  const { control, people, clock } = deps;
  const namespace = await control.namespaces.bySlug("acme");
  assert(namespace);
  const now = clock.now();
  const { ok } = await control.members.add({
    id: newId("mem", now),
    namespaceId: namespace.id,
    email: EMAIL,
    name: "Mara Lind",
    role: "admin",
    passwordHash: await people.passwords.hash("console", normalPassword(PASSWORD) ?? ""),
    epoch: 0,
    createdAt: now,
    joinedAt: now,
    vouched: true,
  });
  assert(ok);
}

async function assertReadable(page: Page): Promise<void> {
  assertEquals(await overflow(page), 0, page.url());
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    assertEquals(await violations(page, colorScheme === "light" ? undefined : ["color-contrast"]), []);
  }
}

Deno.test({ name: "approvals in a browser", ignore, ...unlooked }, async (t) => {
  if (browser === null) return;
  const world = await openConsole();
  const decisions = await decisionWorld(world.app, "acme");
  const step = (name: string, fn: () => Promise<void>) => t.step({ name, fn, ...unlooked });

  await step("from the link on a phone to the undo, without one reload by hand", async () => {
    await addMara(world.app);
    const sql = "UPDATE items SET price = price * ? WHERE id < 4";
    const { agent, shop, rows } = decisions;
    const answer = await shop.query(sql, [2], { token: agent.token });
    const { approvalUrl, approvalToken } = JSON.parse(answer.text);
    const { pathname } = new URL(approvalUrl);
    await withPage(browser, world.url + pathname, PHONE, async (page) => {
      await page.getByLabel("Namespace").fill("acme");
      await page.getByLabel("E-mail").fill(EMAIL);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.getByRole("heading", { name: "test asks to change 3 rows of items" }).waitFor();
      assertEquals(new URL(page.url()).pathname, pathname);
      // Rows are cards here: nobody scrolls sideways to see what is decided.
      await page.getByRole("region", { name: "Rows of items, before and after" }).getByText("item 3")
        .waitFor();
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

  await world.stop();
  await browser.close();
});
