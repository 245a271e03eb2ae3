// A database as it looks after some days of use: with rules, a log, snapshots, branches and endpoints. Words of strangers
// stand in all of them, for tests that give hostile ones.
import { pause } from "../../lib/core/pause.ts";
import { assert, assertEquals } from "@std/assert";
import { sendForm } from "../console/open_page.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { signIn, type TestPerson } from "../testing/person.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { member, type TestDatabase, type TestNamespace } from "../testing/test_namespace.ts";

/** What strangers have written. */
export interface StrangeWords {
  readonly product: string;
  /** Name of a table. */
  readonly table: string;
  readonly purpose: string;
  readonly note: string;
  readonly endpoint: string;
  readonly token: string;
  readonly email: string;
}

/** As most people write. */
export const plainWords: StrangeWords = {
  product: "Ridge tent, two persons",
  table: "order_archive",
  purpose: "Winter sale: ten per cent off all that is sold outdoors",
  note: "Prices are checked by a person before they go live.",
  endpoint: "Products below a price",
  token: "pricing-agent",
  email: "lars@northwind.example",
};

/** The pages of a database, whose address is `base`. */
export interface FurnishedDatabase {
  readonly base: string;
  /** Name of a picture → the page. */
  readonly pages: Readonly<Record<string, string>>;
}

const PRODUCTS = [
  ["Trail lantern", 4900],
  ["Camp stove", 8900],
  ["Dry bag, 20 l", 2400],
  ["Titanium mug", 3200],
  ["Hiking poles", 7900],
  ["Water filter", 4500],
] as const;
const DAY_SEC = 86_400;

/** Fills `database`, which is new and not `main`. */
export async function furnishDatabase(
  app: StartedApp,
  namespace: TestNamespace,
  { database, words }: { readonly database: TestDatabase; readonly words: StrangeWords },
): Promise<FurnishedDatabase> {
  const send = async (path: string, body: unknown, token: string, status: number): Promise<ApiAnswer> => {
    const answer = await app.request("POST", path, { token, body });
    assertEquals(answer.status, status, answer.text);
    return answer;
  };
  const base = `/console/${namespace.slug}/db/${database.slug}`;
  const api = `/api/namespaces/${namespace.slug}`;
  const person = await signIn(app, { role: "editor", namespace: namespace.slug, email: words.email });
  const admin = await signIn(app, { role: "admin", namespace: namespace.slug });
  const made = await send(`${api}/tokens`, { name: words.token, role: "write" }, namespace.token, 201);
  const run = (sql: string, params: unknown[] = [], token = namespace.token, status = 200) =>
    send(`${database.path}/query`, { sql, params }, token, status);
  const form = async (
    path: string,
    fields: Record<string, string>,
    { by = admin, expected = 303 }: { readonly by?: TestPerson; readonly expected?: number } = {},
  ) => {
    const { status, text } = await sendForm(app, { path: base + path, fields, person: by });
    assertEquals(status, expected, text.slice(-300));
  };

  await run(
    "CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price_cents INTEGER NOT NULL)",
  );
  await run(
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES products, note TEXT)",
  );
  const file = {
    name: "0001_suppliers.sql",
    sql: "CREATE TABLE suppliers (id INTEGER PRIMARY KEY, name TEXT)",
  };
  await send(`${database.path}/migrations`, { files: [file] }, namespace.token, 200);
  await run(`CREATE TABLE "${words.table}" (id INTEGER PRIMARY KEY, body TEXT)`);
  for (const [name, cents] of [...PRODUCTS, [words.product, 28_900] as const]) {
    await run("INSERT INTO products (name, price_cents) VALUES (?, ?)", [name, cents], member(made, "token"));
  }
  await run("INSERT INTO orders (product_id, note) VALUES (1, 'by Friday'), (2, NULL), (7, ?)", [words.note]);
  await send(`${database.path}/snapshots`, { label: "before-the-sale" }, namespace.token, 201);

  const branch = async (ref: string, purpose: string, ttlSec: number) => {
    const claim = await send(
      `${database.path}/claim_branch`,
      { ref, purpose, ttlSec, role: "admin" },
      namespace.token,
      201,
    );
    return (sql: string) => send(`${database.path}@${ref}/query`, { sql }, member(claim, "token"), 200);
  };
  const inSale = await branch("winter-sale", words.purpose, DAY_SEC);
  await inSale("UPDATE products SET price_cents = price_cents * 9 / 10 WHERE id IN (1, 2, 7)");
  await inSale("DELETE FROM orders WHERE id = 2");
  await inSale("INSERT INTO products (name, price_cents) VALUES ('Merino socks', 1900)");
  await inSale("CREATE INDEX products_by_price ON products (price_cents)");
  await branch("try-an-index", "See what an index on prices is worth", 7 * DAY_SEC);

  await beginArchive(app, namespace, { database, admin });
  await run("UPDATE products SET name = ? WHERE id = 4", ["Titanium mug, 450 ml"]);
  await run("DELETE FROM orders WHERE id = 2");
  await run("SELECT nme FROM products", [], namespace.token, 400);
  await form("/sql", { sql: "SELECT id, name FROM products", do: "run" }, { by: person, expected: 200 });

  for (
    const rule of [
      {
        tableGlob: "products",
        actions: ["update", "delete"],
        effect: "require_approval",
        minRows: 10,
        note: words.note,
      },
      {
        tableGlob: "order*",
        actions: ["delete"],
        effect: "require_approval",
        unboundedOnly: true,
        tolerance: 2,
      },
      { tableGlob: words.table, effect: "deny" },
    ]
  ) await send(`${api}/databases/${database.slug}/rules`, rule, namespace.token, 201);

  for (const events of [["change", "backup.late"], ["approval.requested"]]) {
    const hook = { url: "https://hooks.example/cubby/orders", events, tables: ["orders", words.table] };
    await send(`${api}/databases/${database.slug}/webhooks`, hook, namespace.token, 201);
  }

  await form("/endpoints/-/scaffold", { table: "products" });
  await send(
    `${api}/databases/${database.slug}/endpoints`,
    {
      ...{
        slug: "products-below",
        name: words.endpoint,
        description: words.note,
        kind: "query",
        method: "GET",
      },
      sql: "SELECT id, name, price_cents\n  FROM products\n WHERE price_cents < ?\n ORDER BY price_cents",
      input: [{ name: "cents", label: words.product, type: "integer", required: true, min: 1 }],
      ...{ output: "rows", rateLimit: { perMin: 60 }, cacheSec: 30 },
    },
    namespace.token,
    201,
  );
  await form("/endpoints/list-products/publish", {});
  await form("/endpoints/products-below/publish", {});
  for (const cents of ["3000", "5000", "much"]) {
    await app.request("GET", `/p/${namespace.slug}/${database.slug}/products-below?cents=${cents}`);
  }
  return {
    base,
    pages: {
      rules: `${base}/rules`,
      log: `${base}/log`,
      snapshots: `${base}/snapshots`,
      restore: `${base}/snapshots/before-the-sale/restore`,
      archive: `${base}/archive`,
      data: `${base}/data`,
      webhooks: `${base}/webhooks`,
      branches: `${base}/branches`,
      branch: `${base}/branches/winter-sale`,
      "branch-merge": `${base}/branches/winter-sale?mode=data&onConflict=theirs`,
      endpoints: `${base}/endpoints`,
      "endpoint-new": `${base}/endpoints/-/new`,
      endpoint: `${base}/endpoints/products-below?compare=1`,
    },
  };
}

/** Whoever asks for a moment has what is new archived at once. The first one may be before the archive begins. */
async function beginArchive(
  app: StartedApp,
  { slug }: TestNamespace,
  { database, admin }: { readonly database: TestDatabase; readonly admin: TestPerson },
): Promise<void> {
  if (app.deps.tenants.archive === null) return;
  const path = `/console/${slug}/db/${database.slug}/archive/moment`;
  const fields = { at: new Date().toISOString().replace("Z", "") };
  const { status, text } = await sendForm(app, { path, fields, person: admin });
  assert([303, 404].includes(status), text.slice(-300));
  await pause(2);
}
