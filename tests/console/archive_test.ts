// The page of the archive, as a browser without script sees it.
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { signIn } from "../testing/person.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { type ConsoleWorld, consoleWorld, plain } from "./console_world.ts";
import { openPage } from "./open_page.ts";
import { pause } from "../../lib/core/pause.ts";

interface World extends ConsoleWorld {
  readonly folder: string;
  readonly clock: TurnableClock;
  readonly names: () => Promise<unknown>;
  /** What the archive of the database says of itself. */
  readonly status: () => Promise<{ archivedFrom: string | null; problem: string | null }>;
}

async function archiveWorld(app: StartedApp, folder: string, clock: TurnableClock): Promise<World> {
  const own = await consoleWorld(
    app,
    { slug: "acme", page: "archive" },
    "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)",
    "INSERT INTO people VALUES (1, 'Ada'), (2, 'Ben')",
  );
  const { path, token } = { ...own.tenant.database, ...own.tenant };
  const world: World = {
    ...{ ...own, folder, clock },
    names: async () =>
      JSON.parse((await own.tenant.query("SELECT id, name FROM people ORDER BY id")).text).data.rows,
    status: async () => (await app.request("GET", `${path}/archive`, { token })).body.data as never,
  };
  // Whoever asks for a moment has what is new archived at once: the first base, of which nothing is older.
  const first = await app.request("POST", `${path}/restore`, {
    token,
    body: { at: new Date().toISOString(), into: "first" },
  });
  assert([201, 404].includes(first.status), first.text);
  assert((await world.status()).archivedFrom !== null);
  await pause(2);
  return world;
}

async function withArchive(work: (world: World) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const settings = { TENANTS_URL: "file:", ARCHIVE_URL: `file:${folder}/archive` };
    const clock = new TurnableClock();
    await using app = await startApp({ settings, clock });
    await work(await archiveWorld(app, folder, clock));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function filesOf(folder: string, wanted: RegExp): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) found.push(...await filesOf(path, wanted));
    else if (wanted.test(path)) found.push(path);
  }
  return found;
}

function digestIn(page: string): string {
  return /name="digest" value="([^"]+)"/.exec(page)?.[1] ?? "";
}

/** The moments that the page offers, the newest first. */
function offeredIn(page: string): string[] {
  return [...page.matchAll(/type="hidden" name="at" value="([^"]+)"/g)].map(([, at = ""]) => at);
}

Deno.test("the moment just before a write is shown row by row, brought back, and that is undone", async () => {
  await withArchive(async ({ path, send, look, names, tenant }) => {
    await tenant.query("DELETE FROM people WHERE id = 2");
    const page = await look(path);
    assertMatch(plain(page), /Archive On .*Oldest moment .*Newest moment Now .*Behind/);
    assertStringIncludes(plain(page), "DELETE FROM people WHERE id = 2");
    const [at = ""] = offeredIn(page);
    const shown = await send(`${path}/moment`, { at });
    assertEquals(shown.status, 303, plain(shown.text).slice(-300));
    const to = shown.headers.get("location") ?? "";
    const restore = await look(to);
    assertStringIncludes(plain(restore), `as it was at ${at.replace("T", " ")} UTC`);
    assertStringIncludes(
      plain(restore),
      "1 row in people becomes what it was; what was written there since is lost",
    );
    assert(restore.indexOf('id="copy"') < restore.indexOf('id="in-place"'), "a new database comes first");
    assertEquals(await names(), [[1, "Ada"]]);
    const done = await send(to, { digest: digestIn(restore) });
    assertEquals(done.status, 303);
    assertEquals(await names(), [[1, "Ada"], [2, "Ben"]]);
    const after = await look(done.headers.get("location") ?? "");
    const undo = /href="([^"]+)">undo the restore/.exec(after)?.[1] ?? "";
    assertEquals((await send(undo, { digest: digestIn(await look(undo)) })).status, 303);
    assertEquals(await names(), [[1, "Ada"]]);
    const list = plain(await look(path.replace(/archive$/, "snapshots")));
    assertStringIncludes(list, "before a restore: its undo");
    assertStringIncludes(list, `as it was at ${at.replace("T", " ")} UTC`);
  });
});

Deno.test("a moment that is none, to come or too early comes back with what was typed, and what to choose", async () => {
  await withArchive(async ({ path, send, status, names }) => {
    const wrong = [
      "",
      "yesterday",
      "2026-11-20",
      "2026-13-40T00:00",
      "2026-11-20T10:00Z",
      "2999-01-01T00:00",
    ];
    for (const at of wrong) {
      const refused = await send(`${path}/moment`, { at });
      assertEquals(refused.status, 400, at);
      assertStringIncludes(refused.text, `value="${at}"`);
    }
    const early = await send(`${path}/moment`, { at: "2020-02-29T12:30" });
    assertEquals(early.status, 404);
    assertStringIncludes(early.text, `Choose a moment from ${(await status()).archivedFrom} on`);
    assertStringIncludes(early.text, 'value="2020-02-29T12:30"');
    assertEquals(await names(), [[1, "Ada"], [2, "Ben"]]);
  });
});

Deno.test("the last writes are listed in pages, and those before a time on their own", async () => {
  await withArchive(async ({ path, look, tenant }) => {
    for (let at = 10; at < 40; at++) await tenant.query(`INSERT INTO people VALUES (${at}, 'x')`);
    const first = await look(path);
    assertEquals(offeredIn(first).length, 25);
    const older = /href="([^"]+)">Older writes/.exec(first)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const second = plain(await look(older));
    assertStringIncludes(second, "INSERT INTO people VALUES (10");
    assert(!second.includes("INSERT INTO people VALUES (39"));
    const before = plain(await look(`${path}?until=2020-01-01T00:00`));
    assertStringIncludes(before, "No write before then");
    assertStringIncludes(plain(await look(`${path}?until=never&after=none`)), "VALUES (39");
  });
});

Deno.test("an archive that does not answer is told in words, and a moment is asked for again later", async () => {
  await withArchive(async ({ app, folder, path, send, look, status, tenant }) => {
    const base = `${folder}/archive`;
    // A file stands where the folder was: nothing there can be read or written.
    await Deno.rename(base, `${base}-away`);
    await Deno.writeTextFile(base, "");
    await tenant.query("DELETE FROM people");
    assertEquals((await status()).problem, "archive_away");
    const page = plain(await look(path));
    assertStringIncludes(page, "The archive does not answer.");
    assertStringIncludes(page, "Oldest moment Not known now");
    assertStringIncludes(page, "Newest moment Not now");
    assert(!page.includes("None yet") && !page.includes("not archived yet"));
    const at = new Date(app.deps.clock.now() - 1).toISOString().replace("Z", "");
    const refused = await send(`${path}/moment`, { at });
    assertEquals(refused.status, 503);
    assertStringIncludes(refused.text, `value="${at}"`);
    await Deno.remove(base);
    await Deno.rename(`${base}-away`, base);
  });
});

Deno.test("an archive that somebody else writes now is told in words, with the way out", async () => {
  await withArchive(async ({ folder, clock, path, look, status, tenant }) => {
    const another = { installation: "another", start: crypto.randomUUID() };
    await Deno.writeTextFile(`${folder}/archive/owner.json`, JSON.stringify(another));
    // Whose it is, is looked at once a minute.
    clock.turn(61_000);
    for (let at = 10; (await status()).problem === null; at++) {
      await tenant.query(`INSERT INTO people VALUES (${at}, 'x')`);
      await pause(20);
    }
    assertEquals((await status()).problem, "archive_taken");
    const page = plain(await look(path));
    assertStringIncludes(page, "Taken over");
    assertStringIncludes(page, "ARCHIVE_TAKE_OVER=1");
    assertStringIncludes(page, "Oldest moment Not known now");
  });
});

Deno.test("an archive whose beginning is altered is told as damaged, and no moment of it is brought back", async () => {
  await withArchive(async ({ app, folder, path, send, look, status, names }) => {
    const [begin = ""] = await filesOf(`${folder}/archive/db`, /\/begin-/);
    await Deno.writeTextFile(begin, "{}");
    assertEquals((await status()).problem, "archive_damaged");
    const page = plain(await look(path));
    assertStringIncludes(page, "Damaged");
    const at = new Date(app.deps.clock.now() - 1).toISOString().replace("Z", "");
    const refused = await send(`${path}/moment`, { at });
    assertEquals(refused.status, 503);
    assertStringIncludes(refused.text, `value="${at}"`);
    assertEquals(await names(), [[1, "Ada"], [2, "Ben"]]);
  });
});

Deno.test("a reader sees how the archive stands, and no way back", async () => {
  await withArchive(async ({ app, path, tenant }) => {
    await tenant.query("DELETE FROM people WHERE id = 2");
    for (const role of ["viewer", "editor"] as const) {
      const reader = await signIn(app, { role, namespace: "acme" });
      const { text } = await openPage(app, path, reader);
      assertStringIncludes(plain(text), "DELETE FROM people WHERE id = 2");
      assert(!text.includes("/archive/moment"), role);
    }
  });
});

Deno.test("where nothing is archived the page says what there is instead and how that is changed, and no moment is brought back", async () => {
  await using app = await startApp();
  const { path, send, look } = await consoleWorld(app, { slug: "acme", page: "archive" });
  const page = await look(path);
  assertStringIncludes(page, "This service archives no moments");
  assertStringIncludes(page, 'href="/console/acme/db/main/snapshots"');
  assert(!page.includes("/archive/moment"));
  assert(!(await look(path.replace(/archive$/, "snapshots"))).includes("Choose a moment"));
  const refused = await send(`${path}/moment`, { at: "2026-11-20T14:05" });
  assertEquals(refused.status, 409);
  assertStringIncludes(refused.text, "Choose a snapshot; this service archives no moments");
});
