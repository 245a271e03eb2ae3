// GET /search: its form, its bounds, and that it always knows the present schema.
import { assert, assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";
import { RankedSchema } from "../../lib/services/schema/ranked_schema.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("GET /search", run);

interface Hit {
  readonly kind: string;
  readonly table: string;
  readonly column: string | null;
  readonly description: string;
  readonly score: number;
}

async function search(app: StartedApp, { database, token }: TestNamespace, query: string): Promise<Hit[]> {
  const answer = await app.request("GET", `${database.path}/search?${query}`, { token });
  assertEquals(answer.status, 200, answer.text);
  return (answer.body.data as { hits: Hit[] }).hits;
}

const places = (hits: readonly Hit[]) =>
  hits.map(({ table, column }) => column === null ? table : `${table}.${column}`);

test("search answers ranked hits of every kind with what is said about them", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE parcels (id INTEGER PRIMARY KEY, weightGrams INT)");
  await app.request("PUT", `${tenant.database.path}/describe`, {
    token: tenant.token,
    body: {
      databaseDescription: "Harbour office",
      tables: [{ table: "parcels", description: "What ships carry" }],
    },
  });
  const { token } = await tenant.mint("read");
  const answer = await app.request("GET", `${tenant.database.path}/search?q=parcel+weight`, { token });
  assertEquals([answer.status, answer.body.success], [200, true]);
  const { query, hits } = answer.body.data as { query: string; hits: Hit[] };
  assertEquals(query, "parcel weight");
  assertEquals(places(hits).slice(0, 2), ["parcels.weightGrams", "parcels"]);
  assertEquals(hits.map(({ score }) => score), hits.map(({ score }) => score).toSorted((a, b) => b - a));
  assert(hits.every(({ score }) => score > 0));
  const [table] = await search(app, tenant, "q=ships");
  assertEquals([table?.kind, table?.table, table?.column, table?.description], [
    ...["table", "parcels", null, "What ships carry"],
  ]);
  const [database] = await search(app, tenant, "q=harbour");
  assertEquals([database?.kind, database?.table, database?.column], ["database", "", null]);
  assertEquals(await search(app, tenant, "q=xylophone"), []);
  assertEquals(await search(app, tenant, "q=%3F%21"), []);
});

test("search understands stems, parts of identifiers, beginnings and small typos", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.batch([
    ["CREATE TABLE subscription_plans (planId INTEGER PRIMARY KEY, HTTPTimeoutMs INT, qty INT)"],
    ["CREATE TABLE employees (café TEXT, hired_on TEXT)"],
    ["CREATE TABLE users (email TEXT, database_name TEXT)"],
  ]);
  for (
    const [q, expected] of [
      ["subscriptions", "subscription_plans"],
      ["subscribing", "subscription_plans"],
      ["plan", "subscription_plans"],
      ["timeout", "subscription_plans.HTTPTimeoutMs"],
      ["http", "subscription_plans.HTTPTimeoutMs"],
      ["employe", "employees"],
      ["emplyees", "employees"],
      ["EMPLOYEES", "employees"],
      ["cafe", "employees.café"],
      ["quantity", "subscription_plans.qty"],
      ["hiredOn", "employees.hired_on"],
      // Two letters swapped are one typo.
      ["emial", "users.email"],
      ["usres", "users"],
      ["databse", "users.database_name"],
      ["dtaabase", "users.database_name"],
      ["hierd", "employees.hired_on"],
      ["emlpoyees", "employees"],
    ] as const
  ) {
    const [first] = places(await search(app, tenant, `q=${encodeURIComponent(q)}`));
    assertEquals(first, expected, q);
  }
});

test("search finds names by one word for their several, by their singular and with a typo, the table before its columns", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.batch([
    ["CREATE TABLE Customers (cust_id INTEGER PRIMARY KEY, fullName TEXT, phoneNumber TEXT)"],
    ["CREATE TABLE userAccounts (userId INTEGER PRIMARY KEY, httpStatus INT, created_at TEXT)"],
    ["CREATE TABLE orderItems (id INTEGER PRIMARY KEY, unitPrice INT)"],
    ["CREATE TABLE invoices (id INTEGER PRIMARY KEY, invoice_total INT)"],
  ]);
  for (
    const [q, expected] of [
      ["fullname", "Customers.fullName"],
      ["FULLNAME", "Customers.fullName"],
      ["full_name", "Customers.fullName"],
      ["fulname", "Customers.fullName"],
      ["phonenumber", "Customers.phoneNumber"],
      ["userid", "userAccounts.userId"],
      ["httpstatus", "userAccounts.httpStatus"],
      ["createdat", "userAccounts.created_at"],
      ["unitprce", "orderItems.unitPrice"],
      ["invoicetotal", "invoices.invoice_total"],
      ["useraccounts", "userAccounts"],
      ["useraccount", "userAccounts"],
      ["orderitem", "orderItems"],
      ["orderitems", "orderItems"],
      ["useraccounts created", "userAccounts.created_at"],
      ["customer", "Customers"],
      ["customers", "Customers"],
      ["custmer", "Customers"],
      ["costumer", "Customers"],
      ["invoice", "invoices"],
      ["invioce", "invoices"],
    ] as const
  ) {
    assertEquals(places(await search(app, tenant, `q=${encodeURIComponent(q)}&limit=1`)), [expected], q);
  }
  for (const q of ["horse", "costume", "service", "bodyguard", "nameless", "userland", "uniform", "invite"]) {
    assertEquals(places(await search(app, tenant, `q=${q}`)), [], q);
  }
});

test("search gives a table that is asked for before what joins it to others, and before the database", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.batch([
    ["CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT)"],
    ["CREATE TABLE user_group (user_id INT, group_id INT)"],
    ["CREATE TABLE account (id INTEGER PRIMARY KEY, name TEXT)"],
    ["CREATE TABLE account_user (account_id INT, user_id INT)"],
    ["CREATE TABLE invoices (id INTEGER PRIMARY KEY, invoice_total INT)"],
  ]);
  await app.request("PUT", `${tenant.database.path}/describe`, {
    token: tenant.token,
    body: {
      databaseDescription: "Invoices, bookings and whatever else an office keeps",
      tables: [{ table: "account_user", description: "Bookings of seats" }],
    },
  });
  for (
    const [q, expected] of [
      ["user", "user"],
      ["users", "user"],
      ["account", "account"],
      ["accounts", "account"],
      ["user group", "user_group"],
      ["account user", "account_user"],
      ["invoice", "invoices"],
      ["bookings", "account_user"],
      ["office", ""],
    ] as const
  ) {
    assertEquals(places(await search(app, tenant, `q=${encodeURIComponent(q)}&limit=1`)), [expected], q);
  }
});

test("search never shows what is gone, nor misses what is new", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE apples (a INT)");
  assertEquals(places(await search(app, tenant, "q=apples"))[0], "apples");
  await tenant.query("ALTER TABLE apples RENAME TO pears");
  assertEquals(places(await search(app, tenant, "q=apples")), []);
  assertEquals(places(await search(app, tenant, "q=pears"))[0], "pears");
  const describe = (description: string) =>
    app.request("PUT", `${tenant.database.path}/describe`, {
      token: tenant.token,
      body: { tables: [{ table: "pears", description }] },
    });
  await describe("orchard");
  assertEquals(places(await search(app, tenant, "q=orchard"))[0], "pears");
  await describe("meadow");
  assertEquals(places(await search(app, tenant, "q=orchard")), []);
});

test("search shows no view, no shadow table and none of the service's tables", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.batch([
    ["CREATE TABLE logs (a INT)"],
    ["CREATE VIEW logs_view AS SELECT * FROM logs"],
    ["CREATE VIRTUAL TABLE logs_search USING fts5(body)"],
  ]);
  const found = places(await search(app, tenant, "q=logs+query+log+audit+content+config&limit=50"));
  assertEquals(new Set(found.map((place) => place.replace(/\..*/, ""))), new Set(["logs", "logs_search"]));
});

test("search wants a question of 1 to 500 characters and a limit of 1 to 50", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const columns = Array.from({ length: 60 }, (_, at) => `same_${at} INT`).join(", ");
  await tenant.setup(`CREATE TABLE t (${columns})`);
  assertEquals((await search(app, tenant, "q=same")).length, 10);
  assertEquals((await search(app, tenant, "q=same&limit=50")).length, 50);
  assertEquals((await search(app, tenant, `q=${"a".repeat(500)}`)).length, 0);
  for (
    const [query, path] of [
      ["", "q"],
      ["q=", "q"],
      [`q=${"a".repeat(501)}`, "q"],
      ["q=a&limit=0", "limit"],
      ["q=a&limit=51", "limit"],
      ["q=a&limit=x", "limit"],
      ["q=a&other=1", "other"],
    ]
  ) {
    const answer = await app.request("GET", `${tenant.database.path}/search?${query}`, {
      token: tenant.token,
    });
    assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, path], query);
  }
});

test("search that finds nothing says what there is and how it learns words, and then finds them", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const ask = async () => {
    const { token, database } = tenant;
    const answer = await app.request("GET", `${database.path}/search?q=clients`, { token });
    return answer.body.data as {
      readonly query: string;
      readonly hits: readonly Hit[];
      readonly hint?: string;
    };
  };
  assertEquals(await ask(), { query: "clients", hits: [], hint: "The database has no tables yet" });
  await tenant.setup("CREATE TABLE buyers (id INTEGER PRIMARY KEY)");
  assertEquals(
    (await ask()).hint,
    "Try a word of a name: there is buyers. Describe buyers by PUT describe, in the words that people use",
  );
  const described = { tables: [{ table: "buyers", description: "Clients of the shop" }] };
  await app.request("PUT", `${tenant.database.path}/describe`, { token: tenant.token, body: described });
  const { hits, hint } = await ask();
  assertEquals([places(hits), hint], [["buyers"], undefined]);
});

test("while a large schema is indexed and searched, others have their turns", async () => {
  const columns = Array.from({ length: 50 }, (_, at) => ({ name: `column_${at}`, description: "" }));
  const tables = Array.from({ length: 100 }, (_, at) => ({ name: `t${at}`, description: "", columns }));
  let turns = 0;
  const inTurns = async <T>(work: Promise<T>, atLeast: number): Promise<T> => {
    const before = turns;
    const result = await work;
    assert(turns >= before + atLeast, `${turns - before} turns`);
    return result;
  };
  let isOver = false;
  const others = (async () => {
    for (; !isOver; turns++) await setImmediate();
  })();
  const ranking = await inTurns(RankedSchema.of({ databaseDescription: "", tables }), 5);
  assertEquals((await ranking.search("t99", 1))[0]?.table, "t99");
  // Every column has the first word.
  const hits = await inTurns(ranking.search("column 49", 100), 4);
  isOver = true;
  await others;
  assertEquals(hits.filter(({ column }) => column === "column_49").length, 100);
});

test("of a long question the first sixteen words count", async () => {
  const tables = [{ name: "invoices", description: "", columns: [] }];
  const ranking = await RankedSchema.of({ databaseDescription: "", tables });
  const words = Array.from({ length: 15 }, (_, at) => `z${"abcdefghijklmnop"[at]}`).join(" ");
  assertEquals((await ranking.search(`${words} invoices`, 1))[0]?.table, "invoices");
  assertEquals(await ranking.search(`${words} zz invoices`, 1), []);
});
