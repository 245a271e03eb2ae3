// The page of the databases, and what a member finds who is lost in the own namespace.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { oneStore } from "../testing/cases.ts";
import { signIn } from "../testing/person.ts";
import { startApp } from "../testing/start_app.ts";
import { mainOf, plain } from "./console_world.ts";
import { openPage } from "./open_page.ts";

const { run, test } = oneStore();
Deno.test("the page of the databases", run);

test("says why calls are refused, by the cap and by the balance, and nothing while they are not", async () => {
  await using app = await startApp({ settings: { WELCOME_CREDIT_USD: "0.00002" } });
  const tenant = await app.namespace("acme");
  const person = await signIn(app, { role: "viewer" });
  const told = async () => plain(mainOf((await openPage(app, "/console/acme", person)).text));
  const cap = async (monthlyCapUsd: number | null) => {
    const answer = await app.request("PATCH", "/api/namespaces/acme", {
      token: app.operatorKey,
      body: { monthlyCapUsd },
    });
    assertEquals(answer.status, 200, answer.text);
  };
  const refused = async () => {
    for (let call = 0; call < 100; call++) {
      const { status, body } = await tenant.query("SELECT 1");
      if (status !== 200) return body.code;
    }
    return "nothing";
  };
  await cap(0.000_004);
  assert(!(await told()).includes("refused"));
  assertEquals(await refused(), "monthly_cap_reached");
  await app.deps.query.meter.tick();
  assertMatch(await told(), /monthly cap is reached: calls are refused until it is raised/);
  await cap(null);
  assert(!(await told()).includes("refused"));
  assertEquals(await refused(), "balance_exhausted");
  await app.deps.query.meter.tick();
  assertMatch(await told(), /balance is used up: calls are refused/);
});

test("a page that the monthly cap refuses says that it is the cap, and leads to where it is raised", async () => {
  await using app = await startApp();
  const tenant = await app.namespace("acme");
  await tenant.setup("CREATE TABLE t (id INTEGER PRIMARY KEY)");
  const claim = { token: tenant.token, body: { purpose: "a try", ref: "try" } };
  assertEquals((await app.request("POST", `${tenant.database.path}/claim_branch`, claim)).status, 201);
  const cap = { token: app.operatorKey, body: { monthlyCapUsd: 0 } };
  assertEquals((await app.request("PATCH", "/api/namespaces/acme", cap)).status, 200);
  const admin = await signIn(app, { role: "admin" });
  const { status, text } = await openPage(app, "/console/acme/db/main/branches/try", admin);
  assertEquals(status, 402);
  assertMatch(plain(mainOf(text)), /The monthly cap is reached/);
  assert(!text.includes("The balance is used up"));
  assertMatch(mainOf(text), /href="\/console\/acme\/settings"/);
});

test("whoever is lost in the own namespace has its pages beside it, and nobody another's", async () => {
  await using app = await startApp();
  await app.namespace("acme");
  await app.namespace("other");
  const person = await signIn(app, { role: "viewer" });
  const lost = async (path: string, status: number) => {
    const page = await openPage(app, path, person);
    assertEquals(page.status, status, path);
    return page.text;
  };
  for (const path of ["/console/acme/db/none", "/console/acme/db/main/tables/none", "/console/acme/none"]) {
    assert((await lost(path, 404)).includes('href="/console/acme/approvals"'), path);
  }
  assert(!(await lost("/console/other/usage", 403)).includes("/console/other/approvals"));
});
