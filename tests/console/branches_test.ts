// The pages of the branches, as a browser without script sees them.
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { testSteps } from "../testing/cases.ts";
import { signIn } from "../testing/person.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { type ConsoleWorld, consoleWorld, mainOf, plain } from "./console_world.ts";
import { openPage } from "./open_page.ts";

interface World extends ConsoleWorld {
  /** Claims the branch `pr-1` and answers how to run SQL in it. */
  readonly claim: (role?: string) => Promise<(sql: string) => Promise<number>>;
  readonly trunk: (sql: string) => Promise<unknown>;
}

async function world(app: StartedApp, slug: string): Promise<World> {
  const own = await consoleWorld(
    app,
    { slug, page: "branches" },
    "CREATE TABLE prices (id INTEGER PRIMARY KEY, cents INTEGER)",
    "INSERT INTO prices VALUES (1, 100), (2, 200)",
  );
  const run = (database: string, token: string, sql: string) =>
    app.request("POST", `/v1/db/${slug}/${database}/query`, { token, body: JSON.stringify({ sql }) });
  return {
    ...own,
    claim: async (role = "write") => {
      const { text } = await own.send(own.path, {
        purpose: "New prices",
        ref: "pr-1",
        ttlSec: "3600",
        role,
      });
      const token = /cub_live_\w+/.exec(text)?.[0] ?? "";
      return async (sql) => (await run("main@pr-1", token, sql)).status;
    },
    trunk: async (sql) => JSON.parse((await run("main", own.tenant.token, sql)).text).data.rows,
  };
}

const seenIn = (text: string) => /name="seen" value="([^"]+)"/.exec(text)?.[1] ?? "";
const ALL = "SELECT id, cents FROM prices ORDER BY id";

testSteps("the pages of the branches", world, {
  "teach the first one, claim it, and show its token on that page only": async (
    { path, send, look, tenant },
  ) => {
    assertStringIncludes(await look(path), `/v1/db/${tenant.slug}/main/claim_branch`);
    const claimed = await send(path, { purpose: "Try <b>", ref: "pr-1", ttlSec: "3600", role: "read" });
    assertEquals(claimed.status, 200);
    assertMatch(claimed.text, /cub_live_\w{38}/);
    const list = await look(path);
    assert(!list.includes("cub_live_"));
    assertStringIncludes(list, "Try &lt;b&gt;");
    assertStringIncludes(list, `${path}/pr-1`);
    const wrong = await send(path, { purpose: "", ref: "No Ref", ttlSec: "3600", role: "read" });
    assertEquals(wrong.status, 400);
    assertStringIncludes(wrong.text, "Say what it is for");
    assertStringIncludes(wrong.text, 'value="No Ref"');
  },
  "show what a branch has changed, preview the merge, and do exactly that": async (
    { path, send, look, claim, trunk },
  ) => {
    const inBranch = await claim();
    assertStringIncludes(plain(await look(`${path}/pr-1`)), "Nothing yet");
    assertEquals(await inBranch("UPDATE prices SET cents = 90 WHERE id = 1"), 200);
    await inBranch("INSERT INTO prices VALUES (3, 300)");
    assertStringIncludes(plain(await look(`${path}/pr-1`)), "2 rows of 1 table");
    const preview = await look(`${path}/pr-1?mode=data&onConflict=abort`);
    assertStringIncludes(plain(preview), "Merge 2 rows");
    const fields = { mode: "data", onConflict: "abort", seen: seenIn(preview) };
    const merged = await send(`${path}/pr-1/merge`, fields);
    assertEquals(merged.status, 303, mainOf(merged.text));
    assertEquals(await trunk(ALL), [[1, 90], [2, 200], [3, 300]]);
    assertStringIncludes(plain(await look(merged.headers.get("location") ?? "")), "The branch is merged");
  },
  "say before a second merge that what the trunk has deleted comes in again, also to who approves it": async (
    { app, tenant, path, send, look, claim, trunk },
  ) => {
    const inBranch = await claim();
    await inBranch("INSERT INTO prices VALUES (3, 300)");
    const query = `${path}/pr-1?mode=data&onConflict=abort`;
    const words = "What the trunk has deleted of them since comes in again";
    const first = await look(query);
    assert(!plain(first).includes(words));
    const fields = { mode: "data", onConflict: "abort", seen: seenIn(first) };
    assertEquals((await send(`${path}/pr-1/merge`, fields)).status, 303);
    await trunk("DELETE FROM prices WHERE id = 3 RETURNING id");
    assertStringIncludes(plain(await look(query)), words);
    const call = (to: string, body: unknown) => app.request("POST", to, { token: tenant.token, body });
    const settings = { tableGlob: "prices", effect: "require_approval" };
    await call(`/api/namespaces/${tenant.slug}/databases/main/rules`, settings);
    const choice = { mode: "data", onConflict: "abort" };
    const held = await call(`/v1/db/${tenant.slug}/main/branches/pr-1/merge`, choice);
    assertEquals(held.status, 403, held.text);
    assertStringIncludes(plain(await look(new URL(JSON.parse(held.text).approvalUrl).pathname)), words);
  },
  "colour what changes in a row, and not what changes in another one": async (
    { path, look, claim, trunk },
  ) => {
    await trunk("ALTER TABLE prices ADD COLUMN name TEXT DEFAULT 'pen'");
    const inBranch = await claim();
    await inBranch("UPDATE prices SET cents = 101 WHERE id = 1");
    await inBranch("UPDATE prices SET name = 'ink' WHERE id = 2");
    const cells = (await look(`${path}/pr-1`)).matchAll(/<td class="((?:before|after)[^"]*)"/g);
    // Price and name of each, before and after.
    assertEquals(Array.from(cells, ([, look = ""]) => look.includes("same")), [
      ...[false, false, true, true],
      ...[true, true, false, false],
    ]);
  },
  "show before a merge only what its mode brings over": async ({ path, look, claim }) => {
    const inBranch = await claim("admin");
    await inBranch("UPDATE prices SET cents = 90 WHERE id = 1");
    assertEquals(await inBranch("CREATE INDEX prices_by_cents ON prices (cents)"), 200);
    const shown = async (query: string) => {
      const page = await look(`${path}/pr-1${query}`);
      return [page.includes("Rows of prices"), plain(page).includes("CREATE INDEX prices_by_cents")];
    };
    assertEquals(await shown(""), [true, true]);
    assertEquals(await shown("?mode=data&onConflict=abort"), [true, false]);
    assertEquals(await shown("?mode=schema&onConflict=abort"), [false, true]);
  },
  "merge nothing when the trunk or the branch has changed since it was looked at": async (
    { path, send, look, claim, trunk },
  ) => {
    const inBranch = await claim();
    await inBranch("UPDATE prices SET cents = 90 WHERE id = 1");
    const seen = seenIn(await look(`${path}/pr-1?mode=data&onConflict=abort`));
    await inBranch("UPDATE prices SET cents = 1 WHERE id = 2");
    const late = await send(`${path}/pr-1/merge`, { mode: "data", onConflict: "abort", seen });
    assertEquals(late.status, 409);
    assertStringIncludes(late.text, "Look again at what the merge would do");
    assertEquals(await trunk(ALL), [[1, 100], [2, 200]]);
  },
  "show conflicts, and merge once somebody has chosen who wins": async (
    { path, send, look, claim, trunk },
  ) => {
    const inBranch = await claim();
    await inBranch("UPDATE prices SET cents = 90 WHERE id = 1");
    await trunk("UPDATE prices SET cents = 95 WHERE id = 1 RETURNING id");
    const stopped = await look(`${path}/pr-1?mode=data&onConflict=abort`);
    const told = plain(stopped);
    assertStringIncludes(told, "1 conflict: choose who wins");
    assertMatch(told, /prices 1\s+cents: in the trunk\s+95\s*, in the branch\s+90\b/);
    assertEquals(seenIn(stopped), "");
    const seen = seenIn(await look(`${path}/pr-1?mode=data&onConflict=theirs`));
    assertEquals(
      (await send(`${path}/pr-1/merge`, { mode: "data", onConflict: "theirs", seen })).status,
      303,
    );
    assertEquals(await trunk(ALL), [[1, 90], [2, 200]]);
  },
  "show what takes the place of a row that the trunk has added, also to who approves it": async (
    { app, tenant, path, look, claim, trunk },
  ) => {
    const inBranch = await claim();
    await inBranch("INSERT INTO prices VALUES (3, 31), (4, 41)");
    await trunk("INSERT INTO prices VALUES (3, 30) RETURNING id");
    const shown = (page: string) => [
      page.includes("1 changed") && page.includes("1 added"),
      /prices 3\s+cents: in the trunk\s+30\s*, in the branch\s+31\b/.test(page),
    ];
    const query = (onConflict: string) => `${path}/pr-1?mode=data&onConflict=${onConflict}`;
    assertEquals(shown(plain(await look(query("theirs")))), [true, true]);
    assertEquals(shown(plain(await look(query("ours")))), [false, true]);
    const call = (to: string, body: unknown) => app.request("POST", to, { token: tenant.token, body });
    const settings = { tableGlob: "prices", effect: "require_approval" };
    await call(`/api/namespaces/${tenant.slug}/databases/main/rules`, settings);
    const held = await call(`/v1/db/${tenant.slug}/main/branches/pr-1/merge`, {
      mode: "data",
      onConflict: "theirs",
    });
    assertEquals(held.status, 403, held.text);
    const { pathname } = new URL(JSON.parse(held.text).approvalUrl);
    assertEquals(shown(plain(await look(pathname))), [true, true]);
  },
  "show who has removed the row of a conflict, and only the values that both have changed": async (
    { path, look, claim, trunk },
  ) => {
    await trunk("ALTER TABLE prices ADD COLUMN note TEXT DEFAULT 'as it was'");
    const inBranch = await claim();
    await inBranch("UPDATE prices SET cents = 90 WHERE id IN (1, 2)");
    await trunk("UPDATE prices SET cents = 95, note = 'new' WHERE id = 1 RETURNING id");
    await trunk("DELETE FROM prices WHERE id = 2 RETURNING id");
    const told = plain(await look(`${path}/pr-1?mode=data&onConflict=theirs`));
    assertMatch(
      told,
      /cents: in the trunk\s+95\s*, in the branch\s+90\s+prices 2, which the trunk has removed/,
    );
  },
  "make a branch fresh, and delete it only with its name typed": async (
    { app, admin, path, send, claim, look },
  ) => {
    const inBranch = await claim();
    await inBranch("DELETE FROM prices");
    const asks = await look(`${path}/pr-1`);
    assertMatch(asks, /Start over from the trunk<\/summary>[^]*?pr-1 has changed is lost[^]*?\/pr-1\/reset"/);
    assertEquals((await send(`${path}/pr-1/reset`)).status, 303);
    assertStringIncludes(plain(await look(`${path}/pr-1`)), "Nothing yet");
    assertEquals(await inBranch("SELECT 1"), 401);
    const unsure = await send(`${path}/pr-1/delete`, { confirm: "pr-2" });
    assertEquals(unsure.status, 400);
    assertEquals((await send(`${path}/pr-1/delete`, { confirm: "pr-1" })).status, 303);
    assertEquals((await openPage(app, `${path}/pr-1`, admin)).status, 404);
  },
  "let a rule that denies stop a person too": async ({ app, path, send, look, claim, tenant, trunk }) => {
    await app.request("POST", `/api/namespaces/${tenant.slug}/databases/main/rules`, {
      token: tenant.token,
      body: JSON.stringify({ tableGlob: "prices", effect: "deny" }),
    });
    const inBranch = await claim();
    await inBranch("UPDATE prices SET cents = 1");
    const seen = seenIn(await look(`${path}/pr-1?mode=data&onConflict=abort`));
    assertEquals((await send(`${path}/pr-1/merge`, { mode: "data", onConflict: "abort", seen })).status, 403);
    assertEquals(await trunk(ALL), [[1, 100], [2, 200]]);
  },
  "show a reader what a branch has changed, and nothing that changes it": async (
    { app, path, claim, tenant },
  ) => {
    const inBranch = await claim();
    await inBranch("UPDATE prices SET cents = 90 WHERE id = 1");
    const viewer = await signIn(app, { role: "viewer", namespace: tenant.slug });
    const { status, text } = await openPage(app, `${path}/pr-1`, viewer);
    assertEquals(status, 200);
    assertStringIncludes(plain(mainOf(text)), "1 row of 1 table");
    assert(!mainOf(text).includes("<form"));
  },
});
