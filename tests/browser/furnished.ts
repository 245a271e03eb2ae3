// A namespace as it looks after some days of use, for pictures and for tests that visit every page of the console.
import { makeTestNamespace } from "../testing/test_namespace.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { furnishApprovals } from "./furnished_approvals.ts";
import { furnishDatabase, plainWords } from "./furnished_database.ts";

export interface FurnishedPage {
  /** Names the picture. */
  readonly name: string;
  readonly path: string;
  readonly who: "admin" | "operator" | "nobody";
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
  return [
    { name: "databases", path: "/console/northwind", who: "admin" },
    { name: "databases-empty", path: "/console/empty", who: "operator" },
    { name: "delete", path: "/console/northwind/db/shop/delete", who: "admin" },
    { name: "usage", path: "/console/northwind/usage", who: "admin" },
    { name: "usage-empty", path: "/console/empty/usage", who: "operator" },
    { name: "tokens", path: "/console/northwind/tokens", who: "admin" },
    { name: "audit", path: "/console/northwind/audit", who: "admin" },
    { name: "audit-database", path: "/console/northwind/audit?database=shop", who: "admin" },
    { name: "settings", path: "/console/northwind/settings", who: "operator" },
    { name: "namespaces", path: "/console/-/namespaces", who: "operator" },
    ...approvals,
    ...Object.entries(catalog.pages).map(([name, path]) => ({ name, path, who: "admin" as const })),
    { name: "sign-in", path: "/console/-/sign-in?ns=northwind", who: "nobody" },
    { name: "sign-in-key", path: "/console/-/sign-in?by=key", who: "nobody" },
    { name: "account", path: "/console/-/account", who: "admin" },
    { name: "account-operator", path: "/console/-/account", who: "operator" },
    { name: "members", path: "/console/northwind/members", who: "admin" },
    { name: "overview", path: "/console/northwind/db/main", who: "admin" },
    { name: "overview-empty", path: "/console/northwind/db/analytics", who: "admin" },
    { name: "sql", path: "/console/northwind/db/main/sql", who: "admin" },
    { name: "sql-history", path: "/console/northwind/db/main/sql?history", who: "admin" },
    { name: "tables", path: "/console/northwind/db/main/tables", who: "admin" },
    { name: "table", path: "/console/northwind/db/main/tables/products", who: "admin" },
    { name: "table-row", path: "/console/northwind/db/main/tables/products?row=[1]", who: "admin" },
    { name: "not-found", path: "/console/northwind/nothing/here", who: "admin" },
  ];
}
