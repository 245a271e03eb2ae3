// The page of the query log, as a browser without script sees it.
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { newId } from "../../lib/core/ids.ts";
import { testSteps } from "../testing/cases.ts";
import { signIn, type TestPerson } from "../testing/person.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { member, type TestNamespace } from "../testing/test_namespace.ts";
import { mainOf } from "./console_world.ts";
import { openPage, sendForm } from "./open_page.ts";

interface World {
  readonly app: StartedApp;
  readonly tenant: TestNamespace;
  readonly viewer: TestPerson;
  readonly path: string;
  readonly look: (query?: string) => Promise<string>;
}

async function world(app: StartedApp, slug: string): Promise<World> {
  const tenant = await app.namespace(slug);
  const viewer = await signIn(app, { role: "viewer", namespace: slug, email: "lars@northwind.example" });
  const path = `/console/${slug}/db/main/log`;
  const look = async (query = "") => {
    const { status, text } = await openPage(app, path + query, viewer);
    assertEquals(status, 200);
    return mainOf(text);
  };
  return { app, tenant, viewer, path, look };
}

testSteps("the page of the log", world, {
  "teaches the first call where there was none": async ({ look, tenant }) => {
    const text = await look();
    assertStringIncludes(text, "Nobody has called this database yet");
    assertStringIncludes(text, `/v1/db/${tenant.slug}/main/query`);
  },
  "lists calls newest first with who, rows and cost, and never a value": async ({ tenant, look, path }) => {
    await tenant.query("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)");
    await tenant.query("INSERT INTO t (name) VALUES (?)", ["a secret value"]);
    await tenant.query("SELECT * FROM missing");
    const text = await look();
    assert(text.indexOf("missing") < text.indexOf("INSERT INTO t"));
    assert(text.indexOf("INSERT INTO t") < text.indexOf("CREATE TABLE t"));
    assertStringIncludes(text, "unknown_table");
    assert(!text.includes("a secret value"));
    const failed = await look("?status=error");
    assert(failed.includes("missing") && !failed.includes("INSERT INTO t"));
    const id = /\?id=(qry_\w+)"[^>]*><code>INSERT/.exec(text)?.[1];
    assert(id, path);
    const one = await look(`?id=${id}`);
    assertMatch(one.replace(/<[^>]+>/g, ""), /INSERT INTO t \(name\) VALUES \(\?\)/);
    assertStringIncludes(one, "Rows written");
    assertStringIncludes(one, "$0.0000025");
  },
  "filters by who called, and by whole days": async ({ tenant, look }) => {
    const { token, id } = await tenant.mint("read");
    await tenant.query("SELECT 1");
    await tenant.query("SELECT 2", [], { token });
    const own = await look(`?who=${id}`);
    assert(own.includes("SELECT 2") && !own.includes("SELECT 1"));
    const dayAt = (ms: number) => new Date(ms).toISOString().slice(0, 10);
    // A day on both sides: midnight may pass while the test runs.
    const days = `?since=${dayAt(Date.now() - 86_400_000)}&until=${dayAt(Date.now() + 86_400_000)}`;
    assertStringIncludes(await look(days), "SELECT 2");
    assertStringIncludes(await look("?until=2020-01-01"), "No call like that");
  },
  "names tokens and people, whose calls one can ask for": async ({ app, tenant, viewer, look }) => {
    const created = await app.request("POST", `/api/namespaces/${tenant.slug}/tokens`, {
      token: tenant.token,
      body: { name: "pricing <b>agent", role: "read" },
    });
    await tenant.query("SELECT 1", [], { token: member(created, "token") });
    await sendForm(app, {
      path: `/console/${tenant.slug}/db/main/sql`,
      fields: { sql: "SELECT 2", do: "run" },
      person: viewer,
    });
    const text = await look();
    const rows = [...text.matchAll(/<tr>.*?<\/tr>/gs)].map(([row]) => row);
    const rowOf = (sql: string) => rows.find((row) => row.includes(sql)) ?? "";
    assertStringIncludes(rowOf("SELECT 2"), "lars@northwind.example");
    assertStringIncludes(rowOf("SELECT 1"), "pricing &lt;b&gt;agent");
    const who = /<option value="(mem_\w+)"[^>]*>lars@northwind\.example</.exec(text)?.[1] ?? "";
    const own = await look(`?who=${who}`);
    assert(own.includes("SELECT 2") && !own.includes("SELECT 1"));
  },
  "names who stands behind the 500 that one can choose from too": async ({ app, tenant, look }) => {
    const namespaceId = (await app.deps.control.namespaces.bySlug(tenant.slug))?.id ?? "";
    const now = Date.now();
    const plain = { namespaceId, role: "read", scopes: [], createdAt: now, expiresAt: null } as const;
    for (let number = 0; number < 500; number++) {
      const token = { id: newId("tok", now), hash: `hash ${newId("tok", now)}`, name: `job ${number}` };
      assert(await app.deps.control.tokens.add({ ...plain, ...token }));
    }
    // Ids sort by their time: this token comes behind them.
    const created = await app.request("POST", `/api/namespaces/${tenant.slug}/tokens`, {
      token: tenant.token,
      body: { name: "the last of many", role: "read" },
    });
    await tenant.query("SELECT 501", [], { token: member(created, "token") });
    const row = [...(await look()).matchAll(/<tr>.*?<\/tr>/gs)].map(([text]) => text);
    assertStringIncludes(row.find((text) => text.includes("SELECT 501")) ?? "", "the last of many");
    const own = await look(`?who=${member(created, "id")}`);
    assertMatch(own, /<option value="tok_\w+" selected[^>]*>the last of many</);
  },
  "shows names and texts of strangers as text": async ({ tenant, look }) => {
    await tenant.query(`SELECT 1 AS "<img src=x onerror=alert(1)>" -- \u202Egnp.exe`);
    const text = await look();
    assert(!text.includes("<img"));
    assertStringIncludes(text, "&lt;img");
    assertStringIncludes(text, "⟨U+202E⟩");
  },
  "takes no filter that cannot be meant, and says where a call is not found": async ({ look, tenant }) => {
    await tenant.query("SELECT 1");
    assertStringIncludes(await look("?status=maybe&since=yesterday&after=x"), "SELECT 1");
    assertStringIncludes(await look("?id=qry_01M81GP8TCC9VN03GS863YRA2J"), "No such call");
  },
});
