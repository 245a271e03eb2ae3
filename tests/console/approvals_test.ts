// The page of an approval and the inbox, as a browser without script uses them.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { secondApp } from "../replay/second_app.ts";
import { oneStore, testSteps } from "../testing/cases.ts";
import { signIn, type TestPerson } from "../testing/person.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { type DecisionWorld, decisionWorld } from "../writes/decision_world.ts";
import { heldBy } from "../writes/write_world.ts";
import { openPage, sendForm } from "./open_page.ts";

const { run, test } = oneStore();
Deno.test("approvals", run);

interface PageWorld extends DecisionWorld {
  readonly admin: TestPerson;
  /** Path of the page of an approval. */
  pathOf(id: string): string;
  open(path: string, person?: TestPerson): Promise<{ status: number; text: string }>;
  send(path: string, fields: Record<string, string>, person?: TestPerson): Promise<{
    status: number;
    text: string;
    to: string | null;
  }>;
}

async function pageWorld(app: StartedApp, slug: string): Promise<PageWorld> {
  const world = await decisionWorld(app, slug);
  const admin = await signIn(app, { role: "admin", namespace: slug, email: "mara@example.com" });
  return {
    ...world,
    admin,
    pathOf: (id) => `/console/${slug}/approvals/${id}`,
    open: async (path, person = admin) => {
      const { status, text } = await openPage(app, path, person, { host: "localhost" });
      return { status, text: asRead(text) };
    },
    send: async (path, fields, person = admin) => {
      const { status, text, headers } = await sendForm(app, { path, fields, person });
      return { status, text: asRead(text), to: headers.get("location") };
    },
  };
}

/** Words as readers see them. */
function asRead(html: string): string {
  return html.replace(/<(script|style)[^]*?<\/\1>/g, "").replace(/<[^>]*>/g, " ").replaceAll("&#39;", "'")
    .replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")
    .replace(/\s+/g, " ");
}

testSteps("the page of an approval", pageWorld, {
  "tells who asks what, shows the rows, and decides, runs and undoes without script": async (world) => {
    const held = await world.hold("UPDATE items SET price = price * ? WHERE id < 4", [2]);
    const path = world.pathOf(held.id);
    const { status, text } = await world.open(path);
    assertEquals(status, 200);
    for (
      const words of [
        "test asks to change 3 rows of items",
        "Waiting for you",
        "3 rows of items Cascaded 0 rows",
        "10 20",
        "UPDATE items SET price = price * ? WHERE id < 4",
        "?1 integer 2",
        "Approve 3 rows",
        "All writes of items need an admin.",
        "Prices are checked by a person",
      ]
    ) assert(text.includes(words), `${words}: ${text}`);
    const decision = { decision: "approve", look: "0", snapshot: "yes" };
    const approved = await world.send(`${path}/decide`, decision);
    assertEquals([approved.status, approved.to], [303, path]);
    assertMatch((await world.open(path)).text, /Approved by mara@example\.com/);
    assertEquals((await world.redeem(held)).status, 200);
    assertMatch((await world.open(path)).text, /test ran it, .*: 3 rows written.*Take it back/);
    const asked = await openPage(world.app, `${path}/undo`, world.admin);
    assertMatch(asRead(asked.text), /Whatever was written since goes too.*Now that changes 3 rows/);
    const digest = /name="digest" value="([^"]+)"/.exec(asked.text)?.[1] ?? "";
    const undone = await world.send(`${path}/undo`, { digest });
    assertEquals([undone.status, undone.to], [303, path], undone.text);
    assertMatch((await world.open(path)).text, /Taken back by mara@example\.com/);
    assertEquals(await world.rows("SELECT price FROM items WHERE id < 4"), [[10], [20], [30]]);
  },
  "takes a snapshot only where that is ticked": async (world) => {
    const held = await world.hold("UPDATE items SET price = 7 WHERE id = 1");
    const path = world.pathOf(held.id);
    assertEquals((await world.send(`${path}/decide`, { decision: "approve", look: "0" })).status, 303);
    assertEquals((await world.redeem(held)).status, 200);
    const { text } = await world.open(path);
    assertMatch(text, /test ran it, .*: 1 row written/);
    assertEquals(text.includes("Take it back"), false, text);
  },
  "writes out the beginning of what is very long, and leads to all of it": async (world) => {
    const long = "&".repeat(3_000_000);
    const marks = Array.from({ length: 20_000 }, () => "?").join();
    const ids = Array.from({ length: 20_000 }, (_, at) => at + 4);
    for (
      const [sql, params, words] of [
        [
          "UPDATE items SET price = ? WHERE id < 4",
          [long],
          "first 20,000 of 3,000,000 characters stand here",
        ],
        [`DELETE FROM items WHERE id IN (${marks})`, ids, "first 5,000 of 20,000 values stand here"],
        [
          "UPDATE items SET price = ? WHERE id < 4",
          [{ $blob: "AAAA".repeat(3000) }],
          "first 4,096 of 9,000 bytes",
        ],
      ] as const
    ) {
      const { id } = await world.hold(sql, params);
      const page = await openPage(world.app, world.pathOf(id), world.admin);
      assert(page.text.length < 1_000_000, `${page.text.length} characters`);
      assert(page.text.includes(words), words);
      const [, record = ""] = /stand here; <a href="([^"]+)"/.exec(page.text) ?? [];
      const all = await openPage(world.app, record, world.admin);
      const { statements: [statement] } =
        (all.body as { data: { statements: { sql: string; params: unknown[] }[] } }).data;
      assertEquals([statement?.sql, statement?.params], [sql, params]);
    }
  },
  "writes out no more than one page holds of many long values": async (world) => {
    const marks = Array.from({ length: 40 }, () => "?").join();
    const values = Array.from({ length: 40 }, () => "x".repeat(20_000));
    const { id } = await world.hold(`UPDATE items SET price = coalesce(${marks}) WHERE id < 4`, values);
    const { text } = await world.open(world.pathOf(id));
    const written = text.match(/x{100,}/g)?.join("").length ?? 0;
    assert(written >= 300_000 && written <= 400_000, `${written} characters`);
  },
  "leads from what is decided to what else waits, for whoever may decide": async (world) => {
    const [one, other] = [
      await world.hold("DELETE FROM items WHERE id = 1"),
      await world.hold("DELETE FROM items WHERE id = 2"),
    ];
    const link = /<a [^>]*href="([^"]+)"[^>]*>See the one that waits</;
    const page = async (person: TestPerson) =>
      (await openPage(world.app, world.pathOf(one.id), person, { host: "localhost" })).text;
    assertEquals(link.test(await page(world.admin)), false);
    await world.send(`${world.pathOf(one.id)}/decide`, { decision: "deny", look: "0" });
    assertEquals(link.exec(await page(world.admin))?.[1], world.pathOf(other.id));
    const viewer = await signIn(world.app, {
      role: "viewer",
      namespace: world.shop.slug,
      email: "vi@example.com",
    });
    assertEquals(link.test(await page(viewer)), false);
    await world.send(`${world.pathOf(other.id)}/decide`, { decision: "deny", look: "0" });
    assertEquals(link.test(await page(world.admin)), false);
  },
  "keeps what was typed where the write has changed since, and says so": async (world) => {
    const { id } = await world.hold("DELETE FROM items WHERE id = 7");
    const path = world.pathOf(id);
    await world.shop.setup("DELETE FROM notes WHERE id = 1");
    assertEquals((await world.send(`${path}/look`, {})).status, 303);
    const fields = { decision: "approve", look: "0", reason: "half a thought" };
    const { status, text } = await world.send(`${path}/decide`, fields);
    assertEquals(status, 409);
    assertMatch(text, /Read the approval again/);
    assertMatch(text, /half a thought/);
    assertMatch(text, /Approve 2 rows/);
    assertEquals((await world.send(`${path}/decide`, { ...fields, look: "1" })).status, 303);
  },
  "denies with a reason that the agent reads, and Enter alone decides nothing": async (world) => {
    const held = await world.hold("DELETE FROM items WHERE id = 7");
    const path = world.pathOf(held.id);
    const nothing = await world.send(`${path}/decide`, { decision: "", look: "0", reason: "No" });
    assertEquals(nothing.status, 400);
    assertMatch(nothing.text, /Press Approve or Deny/);
    for (const look of ["", "-1", "1e0", "9".repeat(30)]) {
      const unseen = await world.send(`${path}/decide`, { decision: "approve", look });
      assertEquals(unseen.status, 400, look);
      assertMatch(unseen.text, /Load the page again/);
    }
    const endless = await world.send(`${path}/decide`, {
      decision: "deny",
      look: "0",
      reason: "No ".repeat(30_000),
    });
    assertEquals(endless.status, 400);
    assertMatch(endless.text, /Write at most 1000 characters/);
    assertEquals((await world.show(held.id)).state, "pending");
    await world.send(`${path}/decide`, { decision: "deny", look: "0", reason: "Not today" });
    const { text } = await world.open(path);
    assertMatch(text, /Denied by mara@example\.com.*Not today/);
    const answer = await world.redeem(held);
    assertEquals([answer.body.code, JSON.parse(answer.text).reason], ["approval_denied", "Not today"]);
  },
  "shows others what they may: a viewer reads and is offered nothing": async (world) => {
    const { id } = await world.hold("DELETE FROM items WHERE id = 7");
    const path = world.pathOf(id);
    const viewer = await signIn(world.app, { role: "viewer", namespace: world.shop.slug });
    const { status, text } = await world.open(path, viewer);
    assertEquals(status, 200);
    assertMatch(text, /Waiting for an admin/);
    assert(!/Approve|Look again now|Deny/.test(text), text);
    for (const part of ["/decide", "/look", "/undo"]) {
      assertEquals((await world.send(path + part, { decision: "approve", look: "0" }, viewer)).status, 403);
    }
    assertEquals((await world.show(id)).state, "pending");
  },
  "shows ten rows first, and all of them under an address of their own": async (world) => {
    const { id } = await world.hold("DELETE FROM items WHERE id <= 30");
    const path = world.pathOf(id);
    const few = await world.open(path);
    assertMatch(few.text, /10 of 30 rows.*Show all 30 rows/);
    assert(!few.text.includes("item 11 "), few.text);
    const all = await world.open(`${path}?rows=all`);
    assertMatch(all.text, /What is deleted 30 rows.*item 11 .*item 30 /);
  },
  "shows every value of the rows that an INSERT adds, beside what it changes": async (world) => {
    const { app, shop } = world;
    await shop.setup(
      "CREATE TABLE kinds (id INTEGER PRIMARY KEY, name TEXT, colour TEXT, size TEXT, price INTEGER)",
      "INSERT INTO kinds VALUES (1, 'lamp', 'red', 'small', 5)",
    );
    const rule = { tableGlob: "kinds", actions: ["insert"], effect: "require_approval" };
    const path = `/api/namespaces/${shop.slug}/databases/main/rules`;
    assertEquals((await app.request("POST", path, { token: shop.token, body: rule })).status, 201);
    const changesOf = async (sql: string) =>
      (await world.open(world.pathOf((await world.hold(sql)).id))).text.split("Statement runs")[0] ?? "";
    const added = await changesOf("INSERT INTO kinds VALUES (2, 'mug', 'blue', 'tiny', 7)");
    assertMatch(added, /What is added 1 row .* mug blue tiny 7 /);
    const upsert = "INSERT INTO kinds VALUES (1, 'x', 'x', 'x', 6), (3, 'pole', 'grey', 'long', 9) " +
      "ON CONFLICT (id) DO UPDATE SET price = excluded.price";
    const changed = await changesOf(upsert);
    assertMatch(changed, /test asks to write 2 rows of kinds/);
    assertMatch(changed, /What changes 2 rows .* lamp red small 5 6 .* pole grey long 9 /);
  },
  "shows hostile names and values as text": async (world) => {
    const evil = `</td><script>alert("x")</script>'"&\u202e`;
    const held = await world.hold("UPDATE items SET name = ? WHERE id = 1", [evil]);
    const { text } = await openPage(world.app, world.pathOf(held.id), world.admin);
    assert(!text.includes("<script>alert"), text);
    assert(!text.includes("\u202e"), "a mark that turns the text around it is written out");
    assert(text.includes("&lt;script&gt;alert"), text);
  },
  "hides no part of a long value, and shows where it changes": async (world) => {
    const value = `${"a".repeat(300)}CHANGED${"b".repeat(300)}`;
    const held = await world.hold("UPDATE items SET name = ? WHERE id = 1", [value]);
    assert((await world.open(world.pathOf(held.id))).text.includes(value));
  },
  "tells a script that asks whether something is new": async (world) => {
    const held = await world.hold("UPDATE items SET name = 'x' WHERE id = 1");
    const path = world.pathOf(held.id);
    const { text } = await openPage(world.app, path, world.admin);
    const poll = /hx-get="([^"]+)"/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const refreshes = async () => (await openPage(world.app, poll, world.admin)).headers.get("hx-refresh");
    assertEquals(await refreshes(), null);
    await world.approve(held.id);
    assertEquals(await refreshes(), "true");
  },
}, test);

testSteps("the inbox", pageWorld, {
  "lists what waits as sentences, and the rest by its state": async (world) => {
    const inbox = `/console/${world.shop.slug}/approvals`;
    assertMatch((await world.open(inbox)).text, /Nothing has waited yet.*require_approval/);
    const held = await world.hold("DELETE FROM items WHERE id = 7");
    const denied = await world.hold("DELETE FROM items WHERE id > 200");
    await world.call("POST", denied.id, "deny");
    const { text } = await world.open(inbox);
    assertMatch(text, /Waiting 1.*Denied 1.*All 2/);
    assertMatch(text, /test asks to delete 1 row of items, and 2 more/);
    assert(!text.includes("delete 100 rows"), text);
    assertMatch((await world.open(`${inbox}?state=denied`)).text, /test asks to delete 100 rows of items/);
    const { text: html } = await openPage(world.app, inbox, world.admin);
    assert(html.includes(`href="${world.pathOf(held.id)}"`));
    assertMatch(html, /<title>\(1\) Approvals/);
    assertMatch(html, /Approvals<span class="count">1<span class="unseen"> waiting/);
    assert(html.includes(`data-waiting="${held.id}"`) && !html.includes(`data-waiting="${denied.id}"`));
    const asked = /data-ask="([^"]+)"/.exec(html)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const answer = async () => JSON.parse((await openPage(world.app, asked, world.admin)).text);
    assertEquals(await answer(), { changed: false });
    await world.hold("DELETE FROM items WHERE id = 8");
    assertEquals(await answer(), { changed: true });
    const { status } = await openPage(world.app, asked, null, { accept: "application/json" });
    assertEquals(status, 401);
  },
  "does not say of a write whose outcome was lost that it ran": async (world) => {
    const held = await world.hold("UPDATE items SET price = 1 WHERE id = 9");
    await world.approve(held.id);
    await using second = secondApp(world.app);
    second.onRun = () => second.down = true;
    await second.request("POST", `${world.shop.database.path}/redeem_approval`, {
      token: world.agent.token,
      body: { approvalToken: held.approvalToken },
    });
    second.down = false;
    const { text } = await world.open(world.pathOf(held.id));
    assertMatch(text, /What became of it Redeemed Approved by .* was not noted/);
    const list = await world.open(`/console/${world.shop.slug}/approvals?state=redeemed`);
    assertMatch(list.text, /1 row of items Redeemed main/);
    assert(![text, list.text].some((page) => /\bRan\b/.test(page)), text + list.text);
  },
  "loads itself anew without script, where its reader asks for that": async (world) => {
    const inbox = `/console/${world.shop.slug}/approvals`;
    const still = await openPage(world.app, inbox, world.admin);
    assert(!still.text.includes("http-equiv"), still.text);
    const link = /href="([^"]+reload)"/.exec(still.text)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const { text } = await openPage(world.app, link, world.admin);
    assertMatch(text, /<head>.*<noscript><meta http-equiv="refresh" content="60"><\/noscript>.*<\/head>/s);
    assertMatch(text, /every minute\. <a href="[^"]+state=pending">Stop that/);
  },
  "of a merge shows what its mode brings over, and names what stays in the branch": async (world) => {
    const { app, shop: { slug, token } } = world;
    const post = (path: string, body: object, bearer: string) =>
      app.request("POST", `/v1/db/${slug}/main${path}`, { token: bearer, body });
    const claimed = await post("/claim_branch", { purpose: "try", ref: "try", role: "admin" }, token);
    const branch = JSON.parse(claimed.text).data.token;
    for (
      const sql of [
        "CREATE INDEX items_by_price ON items (price)",
        "UPDATE items SET price = 11 WHERE id = 1",
      ]
    ) {
      assertEquals((await post("@try/query", { sql }, branch)).status, 200);
    }
    const held = (mode: string) => post("/branches/try/merge", { mode, onConflict: "abort" }, token);
    const textOf = async (mode: string) => (await world.open(world.pathOf(heldBy(await held(mode)).id))).text;
    const schema = await textOf("schema");
    for (
      const words of [
        "The rows that it has changed stay in the branch.",
        "Changed definition of",
        "CREATE INDEX",
      ]
    ) assert(schema.includes(words), `${words}: ${schema}`);
    assert(!schema.includes("Rows of items") && !schema.includes("1 changed"), schema);
    const rows = await textOf("data");
    assert(rows.includes("The definitions that it has changed stay in the branch."), rows);
    assert(rows.includes("1 changed") && !rows.includes("CREATE INDEX"), rows);
  },
  "of migrations names each file with the beginning of its digest, which fits a phone": async (world) => {
    const { app, shop: { slug, token } } = world;
    const files = [{ name: "0001_shelf.sql", sql: "ALTER TABLE items ADD COLUMN shelf TEXT;" }];
    const answer = await app.request("POST", `/v1/db/${slug}/main/migrations`, { token, body: { files } });
    const { text } = await world.open(world.pathOf(heldBy(answer).id));
    assertMatch(text, /0001_shelf\.sql 1 statement [0-9a-f]{12} /);
  },
  "is what approvalUrl leads to": async (world) => {
    const answer = await world.shop.query("DELETE FROM items WHERE id = 7", [], { token: world.agent.token });
    const { pathname } = new URL(JSON.parse(answer.text).approvalUrl);
    assertEquals((await world.open(pathname)).status, 200);
    const nobody = await openPage(world.app, pathname, null);
    assertEquals([nobody.status, nobody.headers.get("location")?.includes(encodeURIComponent(pathname))], [
      302,
      true,
    ]);
  },
}, test);

test("an approval of which nobody has seen what it would change does not promise to compare it", async () => {
  await using app = await startApp({ settings: { QUERY_TIMEOUT_MS: "2500" } });
  const world = await pageWorld(app, "acme");
  const endless = "(WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c)";
  const held = await world.hold(`UPDATE items SET price = ${endless} WHERE id = 1`);
  const { text } = await world.open(world.pathOf(held.id));
  for (
    const words of [
      "Read not known to find them",
      "May drift by any number",
      "could not be found out in time",
      "Nothing is counted again.",
    ]
  ) assert(text.includes(words), `${words}: ${text}`);
  assert(!text.includes("asked anew") && !text.includes("decide again"), text);
  const seen = await world.hold("UPDATE items SET price = 1 WHERE id = 1");
  assert((await world.open(world.pathOf(seen.id))).text.includes("The effect is counted again."));
});
