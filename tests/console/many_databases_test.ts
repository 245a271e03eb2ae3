// A namespace with more databases than a page shows: one of them is found, chosen and counted all the same.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { newId } from "../../lib/core/ids.ts";
import { keys } from "../../lib/store/keys.ts";
import { testSteps } from "../testing/cases.ts";
import { signIn, type TestPerson } from "../testing/person.ts";
import type { StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";
import { mainOf, plain } from "./console_world.ts";
import { openPage, sendForm } from "./open_page.ts";

interface World {
  readonly app: StartedApp;
  readonly tenant: TestNamespace;
  readonly admin: TestPerson;
  readonly look: (page: string) => Promise<string>;
}

const OTHERS = 120;

/** The database `main`, and before it so many others, which are records alone. */
async function world(app: StartedApp, slug: string): Promise<World> {
  const tenant = await app.namespace(slug);
  const admin = await signIn(app, { role: "admin", namespace: slug });
  const { id } = await app.deps.control.namespaces.bySlug(slug) ?? {};
  const own = await app.deps.control.databases.bySlug(id ?? "", "main");
  assert(id && own);
  const commit = app.deps.kv.atomic();
  for (let n = 0; n < OTHERS; n++) {
    const other = { ...own, id: newId("db", n), slug: `tenant-${String(n).padStart(3, "0")}` };
    commit.set(keys.database(id, other.id), other).set(keys.databaseBySlug(id, other.slug), other.id);
  }
  assert((await commit.commit()).ok);
  const look = async (page: string) => {
    const { status, text } = await openPage(app, `/console/${slug}${page}`, admin);
    assertEquals(status, 200, text.slice(-300));
    return mainOf(text);
  };
  return { app, tenant, admin, look };
}

const links = (page: string) => [...page.matchAll(/\/db\/([a-z0-9-]+)"/g)].map(([, slug]) => slug);

testSteps("many databases in the console", world, {
  "are found by how their names begin, page after page": async ({ tenant, look }) => {
    assert(!links(await look("")).includes("main"));
    assertEquals(links(await look("?find=+MAI")), ["main"]);
    assertEquals(links(await look("?find=tenant-01")).length, 10);
    const first = await look("?find=tenant");
    const [, after] = /\?find=tenant&amp;after=([a-z0-9-]+)"/.exec(first) ?? [];
    assertEquals([links(first).length, after], [100, "tenant-099"]);
    assertEquals(links(await look(`?find=tenant&after=${after}`)).length, OTHERS - 100);
    for (const nothing of ["?find=nobody", "?find=a%20b"]) {
      const found = await look(nothing);
      assertEquals(links(found), []);
      assert(
        found.includes(`href="/console/${tenant.slug}"`) && found.includes("No database begins so"),
        found,
      );
    }
  },

  "are chosen for a token by name, and the token says which": async (of) => {
    const { app, tenant, admin, look } = of;
    const path = `/console/${tenant.slug}/tokens`;
    assertMatch(await look("/tokens"), /name="names"/);
    const send = (names: string) =>
      sendForm(app, { path, fields: { name: "of some", role: "read", names }, person: admin });
    const wrong = await send("main, nobody");
    assertEquals(wrong.status, 400);
    assertMatch(plain(mainOf(wrong.text)), /Name databases of .*; one of these is none/);
    const made = await send("main, tenant-119");
    assertEquals(made.status, 201, made.text.slice(-300));
    assertMatch(made.text, new RegExp(`/v1/db/${tenant.slug}/main/query`));
    assertMatch(plain(await look("/tokens")), /main, tenant-119/);
  },

  "are named in the audit, and added up behind the hundred that cost most": async (of) => {
    const { app, tenant, look } = of;
    await tenant.query("SELECT 1");
    await app.deps.query.meter.tick();
    const { id = "" } = await app.deps.control.namespaces.bySlug(tenant.slug) ?? {};
    const commit = app.deps.kv.atomic();
    const used = { requests: 2, rowsRead: 3, rowsWritten: 0, costNanoUsd: 1 };
    const hour = Math.floor(Date.now() / 3_600_000);
    for (let n = 0; n < OTHERS; n++) commit.set(keys.usage(id, hour, newId("db", n)), used);
    assert((await commit.commit()).ok);
    const usage = await look("/usage");
    assertEquals(usage.split("<tr>").length - 2, 101);
    assertMatch(plain(usage), /21 others 42 63 0/);
    assertMatch(usage, />main<\/a>/);
    const dear = app.deps.kv.atomic();
    for (let n = 0; n < OTHERS; n++) {
      dear.set(keys.usage(id, hour, newId("db", n)), { ...used, costNanoUsd: 9_000_000 });
    }
    assert((await dear.commit()).ok);
    assert(!(await look("/usage")).includes(">main</a>"));
    const chosen = await look("/usage?database=main");
    assert(chosen.includes(">main</a>") && chosen.includes("Latency of main"), plain(chosen));
    await tenant.setup("CREATE TABLE changed (a)");
    assertMatch(await look("/audit"), /<input[^>]* name="database"/);
    assertMatch(plain(await look("/audit?database=main")), /changed/);
  },

  "and namespaces are found by their names too, on the operator's page and by the API": async (
    { app, tenant },
  ) => {
    const operator = await signIn(app, { role: "operator" });
    const others = ["a", "b"].map((end) => `${tenant.slug}-${end}`);
    for (const slug of others) await app.namespace(slug);
    const look = async (find: string) => {
      const { status, text } = await openPage(app, `/console/-/namespaces?find=${find}`, operator);
      assertEquals(status, 200, text.slice(-300));
      return [...mainOf(text).matchAll(/href="\/console\/([a-z0-9-]+)"/g)].map(([, slug]) => slug);
    };
    assertEquals(await look(`${tenant.slug}-`), others);
    assertEquals(await look("nobody-has-this"), []);
    const query = `prefix=${tenant.slug}-&pageSize=1`;
    const list = async (more: string) =>
      (await app.request("GET", `/api/namespaces?${query}${more}`, { token: app.operatorKey })).body;
    const first = await list("");
    assertEquals(first.meta?.nextCursor, others[0]);
    const second = await list(`&cursor=${others[0]}`);
    assertEquals([(second.data as { slug: string }[]).map(({ slug }) => slug), second.meta?.nextCursor], [
      others.slice(1),
      null,
    ]);
  },
});
