// A namespace as it looks after some days of use, for pictures and for tests that visit every page of the console.
import type { Page } from "playwright-core";
import { assert } from "@std/assert";
import { newToken, tokenHash } from "../../lib/access/token_format.ts";
import { newId } from "../../lib/core/ids.ts";
import { startUrl } from "../../lib/services/people/link_urls.ts";
import { addMember } from "../../lib/services/people/manage_members.ts";
import { signIn, type TestPerson } from "../testing/person.ts";
import { makeTestNamespace } from "../testing/test_namespace.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { furnishApprovals } from "./furnished_approvals.ts";
import { furnishDatabase, plainWords } from "./furnished_database.ts";

export interface FurnishedPage {
  /** Names the picture. */
  readonly name: string;
  readonly path: string;
  /** `returning`: an admin who signed in more than 15 minutes ago. */
  readonly who: "admin" | "viewer" | "operator" | "returning" | "nobody";
  /** Fields of a form: the page is what answers it. */
  readonly sent?: Readonly<Record<string, string>>;
  /** 200 unless given. Browsers write that of a failure to their console. */
  readonly status?: number;
}

/** Signs in who sees a page; null for nobody. An admin has `email`, where one is given. */
export async function personFor(
  app: StartedApp,
  who: FurnishedPage["who"],
  email?: string,
): Promise<TestPerson | null> {
  if (who === "nobody") return null;
  if (who === "operator") return await signIn(app, { role: who });
  if (who === "viewer") return await signIn(app, { role: who, namespace: "northwind" });
  const admin = { role: "admin", namespace: "northwind", ...(email === undefined ? {} : { email }) } as const;
  if (who === "admin") return await signIn(app, admin);
  const clock = { ...app.deps.clock, now: () => app.deps.clock.now() - 20 * 60_000 };
  const nina = { ...admin, email: "nina@northwind.example" };
  const returning = await signIn({ ...app, deps: { ...app.deps, clock } }, nina);
  await givePassword(app, returning);
  return returning;
}

/** So that a page which asks for the password has a field for it. */
async function givePassword({ deps: { control } }: StartedApp, { id }: TestPerson): Promise<void> {
  const namespace = await control.namespaces.bySlug("northwind");
  assert(namespace);
  const { ok } = await control.members.change({
    ...{ namespaceId: namespace.id, memberId: id, keepAdmin: false },
    change: (member) => ({ ...member, passwordHash: "a hash that nothing has" }),
  });
  assert(ok);
}

/** Opens a page, or sends its form from another page of the console as a browser does. */
export async function openFurnished(page: Page, url: string, { path, sent }: FurnishedPage): Promise<void> {
  if (sent === undefined) {
    await page.goto(url + path, { waitUntil: "load" });
    return;
  }
  await page.goto(`${url}/console/-/sign-in`, { waitUntil: "load" });
  await page.evaluate(`
    const fields = { csrf: document.querySelector("[name=csrf]")?.value ?? "", ...${JSON.stringify(sent)} };
    const form = Object.assign(document.createElement("form"), { method: "post", action: ${
    JSON.stringify(path)
  } });
    for (const [name, value] of Object.entries(fields)) {
      form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    }
    document.body.append(form);
    form.submit();`);
  await page.waitForURL(url + path, { waitUntil: "load" });
}

/** Makes the namespace `northwind`, and lists every page that is worth a look. */
export async function furnish(app: StartedApp): Promise<readonly FurnishedPage[]> {
  const northwind = await makeTestNamespace(
    { request: app.request, operatorKey: app.operatorKey },
    "northwind",
  );
  const shop = await northwind.createDatabase("shop");
  await northwind.createDatabase("analytics");
  await northwind.setup(
    "CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price_cents INTEGER NOT NULL)",
    "INSERT INTO products (name, price_cents) VALUES ('Trail lantern', 4900), ('Camp stove', 8900)",
  );
  for (let call = 0; call < 5; call++) await northwind.query("SELECT * FROM products");
  // What was used is booked every second; nobody has to wait for it here.
  await app.deps.query.meter.tick();
  await app.namespace("empty");
  const approvals = await furnishApprovals(app, northwind, shop);
  const catalog = await furnishDatabase(app, northwind, {
    database: await northwind.createDatabase("catalog"),
    words: plainWords,
  });
  const operator = { ...app.deps, caller: { kind: "operator" } as const };
  const invited = { namespaceSlug: "northwind", email: "ines@northwind.example", role: "editor" } as const;
  const { inviteUrl } = await addMember(operator, invited);
  const token = { name: "price report", role: "read" };
  const { id: tokenId } = await northwind.mint("read");
  const rules = await app.request("GET", "/api/namespaces/northwind/databases/catalog/rules", {
    token: northwind.token,
  });
  const rule = /rule_[0-9A-Z]+/.exec(rules.text)?.[0] ?? "";
  const toChange = {
    tableGlob: "products",
    effect: "deny",
    tolerance: "0",
    note: "Typed before",
    revision: "99",
  };
  const toAdd = {
    "type-0": "omit",
    "value-1": "Head torch",
    "type-1": "text",
    "value-2": "3900",
    "type-2": "integer",
  };
  return [
    { name: "databases", path: "/console/northwind", who: "admin" },
    { name: "databases-empty", path: "/console/empty", who: "operator" },
    { name: "delete", path: "/console/northwind/db/shop/delete", who: "admin" },
    { name: "usage", path: "/console/northwind/usage", who: "admin" },
    { name: "usage-empty", path: "/console/empty/usage", who: "operator" },
    { name: "tokens", path: "/console/northwind/tokens", who: "admin" },
    { name: "revoke", path: `/console/northwind/tokens/${tokenId}/revoke`, who: "admin" },
    { name: "audit", path: "/console/northwind/audit", who: "admin" },
    { name: "audit-database", path: "/console/northwind/audit?database=shop", who: "admin" },
    { name: "settings", path: "/console/northwind/settings", who: "operator" },
    { name: "namespaces", path: "/console/-/namespaces", who: "operator" },
    ...approvals,
    ...Object.entries(catalog.pages).map(([name, path]) => ({ name, path, who: "admin" as const })),
    { name: "rule-change", path: `${catalog.base}/rules?edit=${rule}`, who: "admin" },
    {
      ...{ name: "rule-changed-meanwhile", path: `${catalog.base}/rules/${rule}`, who: "admin" as const },
      ...{ sent: toChange, status: 400 },
    },
    {
      ...{ name: "sql-result", path: `${catalog.base}/sql`, who: "admin" as const },
      sent: { sql: "SELECT * FROM products", do: "run" },
    },
    {
      ...{ name: "sql-proposal", path: `${catalog.base}/sql`, who: "admin" as const },
      sent: { sql: "UPDATE products SET price_cents = 0", do: "run" },
    },
    {
      ...{ name: "sql-failed", path: `${catalog.base}/sql`, who: "admin" as const },
      ...{ sent: { sql: "SELECT nme FROM products", do: "run" }, status: 422 },
    },
    {
      ...{ name: "row-proposal", path: `${catalog.base}/tables/products/row`, who: "admin" as const },
      sent: { ...toAdd, do: "insert" },
    },
    {
      name: "approval-viewer",
      path: approvals.find(({ name }) => name === "approval")?.path ?? "",
      who: "viewer",
    },
    { name: "row-viewer", path: `${catalog.base}/tables/orders?row=[1]`, who: "viewer" },
    { name: "endpoint-viewer", path: `${catalog.base}/endpoints/products-below`, who: "viewer" },
    { name: "refused", path: `${catalog.base}/webhooks`, who: "viewer", status: 403 },
    { name: "sign-in", path: "/console/-/sign-in?ns=northwind", who: "nobody" },
    { name: "sign-in-key", path: "/console/-/sign-in?by=key", who: "nobody" },
    { name: "account", path: "/console/-/account", who: "admin" },
    { name: "account-operator", path: "/console/-/account", who: "operator" },
    { name: "members", path: "/console/northwind/members", who: "admin" },
    { name: "overview", path: "/console/northwind/db/main", who: "admin" },
    { name: "overview-empty", path: "/console/northwind/db/analytics", who: "admin" },
    { name: "data-empty", path: "/console/northwind/db/analytics/data", who: "admin" },
    { name: "webhooks-empty", path: "/console/northwind/db/analytics/webhooks", who: "admin" },
    { name: "sql", path: "/console/northwind/db/main/sql", who: "admin" },
    { name: "sql-history", path: "/console/northwind/db/main/sql?history", who: "admin" },
    { name: "tables", path: "/console/northwind/db/main/tables", who: "admin" },
    { name: "table", path: "/console/northwind/db/main/tables/products", who: "admin" },
    { name: "table-row", path: "/console/northwind/db/main/tables/products?row=[1]", who: "admin" },
    { name: "not-found", path: "/console/northwind/nothing/here", who: "admin", status: 404 },
    { name: "start", path: new URL(await startLink(app)).pathname, who: "nobody" },
    { name: "invite", path: new URL(inviteUrl).pathname, who: "nobody" },
    { name: "token-made", path: "/console/northwind/tokens", who: "admin", sent: token, status: 201 },
    { name: "prove", path: "/console/northwind/tokens", who: "returning", sent: token, status: 403 },
    { name: "session-ended", path: "/console/northwind/tokens", who: "nobody", sent: token, status: 401 },
    {
      name: "send-again",
      path: "/console/-/sign-in/key",
      // Signs in: nothing that nobody sees comes behind it.
      who: "nobody",
      sent: {
        operatorKey: app.operatorKey,
        to: "/console/northwind/tokens",
        typed: new URLSearchParams(token).toString(),
      },
    },
  ];
}

/** A link for a first admin, as the first start prints it. */
async function startLink({ deps: { control, clock, baseUrl } }: StartedApp): Promise<string> {
  const namespace = await control.namespaces.bySlug("northwind");
  assert(namespace);
  const token = newToken("pstart_");
  const now = clock.now();
  await control.links.addStart(tokenHash(token), {
    ...{ kind: "start", namespaceId: namespace.id, memberId: newId("mem", now), byPerson: true },
    untilMs: now + 86_400_000,
  });
  return startUrl(baseUrl, token);
}
