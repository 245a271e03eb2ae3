// The page of the usage, as a browser without script sees it.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { newId } from "../../lib/core/ids.ts";
import { keys } from "../../lib/store/keys.ts";
import { testSteps } from "../testing/cases.ts";
import { signIn, type TestPerson } from "../testing/person.ts";
import type { StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";
import { mainOf, plain } from "./console_world.ts";
import { openPage } from "./open_page.ts";

interface World {
  readonly app: StartedApp;
  readonly tenant: TestNamespace;
  readonly viewer: TestPerson;
  readonly look: (query?: string) => Promise<string>;
}

async function world(app: StartedApp, slug: string): Promise<World> {
  const tenant = await app.namespace(slug);
  const viewer = await signIn(app, { role: "viewer", namespace: slug });
  const look = async (query = "") => {
    const { status, text } = await openPage(app, `/console/${slug}/usage${query}`, viewer);
    assertEquals(status, 200, text.slice(-300));
    return mainOf(text);
  };
  return { app, tenant, viewer, look };
}

testSteps("the page of the usage", world, {
  "teaches the first call where there was none": async ({ look }) => {
    assert((await look()).includes("No call in this time"));
  },
  "shows calls, rows and cost, and how long calls took in each database": async ({ app, tenant, look }) => {
    const other = await tenant.createDatabase("other");
    for (let call = 0; call < 3; call++) await tenant.query("SELECT 1");
    const { status } = await app.request("POST", `${other.path}/query`, {
      token: tenant.token,
      body: { sql: "SELECT 1" },
    });
    assertEquals(status, 200);
    await app.deps.query.meter.tick();
    const all = await look();
    // The head of a drawing tells the sum, not where its scale ends.
    assertMatch(plain(all), /Calls 4 in all 5 /);
    assertMatch(plain(all), /Rows written 0 in all (?!1 )/);
    // The busiest one is drawn.
    assert(all.includes("Latency of main, half of its calls below"), plain(all));
    const row = (slug: string) => new RegExp(`>${slug}</a>.*?</tr>`, "s").exec(all)?.[0] ?? "";
    assertMatch(plain(row("main")), / 3 .* ms .* ms .*\$/);
    assertMatch(plain(row("other")), / 1 .* ms .* ms .*\$/);
    const chosen = await look("?span=month&database=other");
    assert(chosen.includes("Latency of other, 95 of 100 calls below"));
    assert(!chosen.includes("Latency of main"));
    assertMatch(plain(chosen), /Calls 1 in all /);
  },
  "adds up what many databases used, in every view and in the list of databases": async (of) => {
    const { app, tenant, look, viewer } = of;
    const { id } = await app.deps.control.namespaces.bySlug(tenant.slug) ?? {};
    assert(id);
    const hour = Math.floor(Date.now() / 3_600_000);
    const each = { requests: 2, rowsRead: 3, rowsWritten: 0, costNanoUsd: 1_000_000 };
    const book = async (hoursAgo: number, databases: number, others = "db") => {
      const commit = app.deps.kv.atomic();
      for (let n = 0; n < databases; n++) {
        // Its own database is among them.
        const database = n === 0 ? tenant.database.id : `${others}_${n}`;
        commit.set(keys.usage(id, hour - hoursAgo, database), each);
      }
      assert((await commit.commit()).ok);
    };
    // An hour less than the week's 168, so that all are in it also when the hour turns meanwhile.
    for (let hoursAgo = 0; hoursAgo < 167; hoursAgo++) await book(hoursAgo, 61);
    const calls = (text: string, slug: string) =>
      / (\d[\d,\u2009\u00a0]*) /.exec(plain(new RegExp(`>${slug}</a>.*?</tr>`, "s").exec(text)?.[0] ?? ""))
        ?.[1];
    assertEquals(calls(await look("?span=week"), "main"), "334");
    assertEquals(calls(await look("?span=week&database=main"), "main"), "334");
    assertMatch(calls(await look(), "main") ?? "", /^4[68]$/);
    for (let more = 0; more < 12; more++) await book(0, 900, `more_${more}`);
    const list = await openPage(app, `/console/${tenant.slug}`, viewer);
    assertEquals(list.status, 200, list.text.slice(-300));
  },
  "names a database that stands behind five hundred others": async ({ app, tenant, look }) => {
    const { id } = await app.deps.control.namespaces.bySlug(tenant.slug) ?? {};
    const own = await app.deps.control.databases.bySlug(id ?? "", tenant.database.slug);
    assert(id && own);
    const commit = app.deps.kv.atomic();
    for (let n = 0; n < 501; n++) {
      // Made before it, by their ids.
      const other = { ...own, id: newId("db", n), slug: `other-${n}` };
      commit.set(keys.database(id, other.id), other);
    }
    assert((await commit.commit()).ok);
    await tenant.query("SELECT 1");
    await app.deps.query.meter.tick();
    for (const query of ["", "?database=main"]) {
      const page = await look(query);
      assert(page.includes(">main</a>") && page.includes("Latency of main"), plain(page));
    }
    assert(!(await look()).includes("gone or a branch"));
  },
  "goes on where the log of a database cannot be read": async ({ app, tenant, look }) => {
    await tenant.query("SELECT 1");
    await app.deps.query.meter.tick();
    const { tenants } = app.deps;
    const open = tenants.open.bind(tenants);
    tenants.open = (...of) =>
      Object.assign(Object.create(open(...of)), {
        run: () => Promise.reject(new AppError("store_unavailable")),
      });
    const shown = await look();
    tenants.open = open;
    assert(shown.includes("By database") && !shown.includes("Latency of"));
  },
});
