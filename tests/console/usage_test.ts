// The page of the usage, as a browser without script sees it.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
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
    // The busiest one is drawn.
    assert(all.includes("Latency of main, half of its calls below"), plain(all));
    const row = (slug: string) => new RegExp(`>${slug}</a>.*?</tr>`, "s").exec(all)?.[0] ?? "";
    assertMatch(plain(row("main")), / 3 .* ms .* ms .*\$/);
    assertMatch(plain(row("other")), / 1 .* ms .* ms .*\$/);
    const chosen = await look("?span=month&database=other");
    assert(chosen.includes("Latency of other, 95 of 100 calls below"));
    assert(!chosen.includes("Latency of main"));
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
