// The demo database: a small shop whose rows are the same on every machine, so that examples have known answers.
import { DAY_MS, MINUTE_MS } from "../../core/clock.ts";
import type { ServiceStatement } from "../../tenant/service_statement.ts";

/** 1 March 2026, the day of the first order. */
const FIRST_ORDER_MS = 1_772_323_200_000;

const tables = [
  `CREATE TABLE customers (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, city TEXT NOT NULL, created_at TEXT NOT NULL
)`,
  `CREATE TABLE products (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, price_cents INTEGER NOT NULL CHECK (price_cents > 0),
  stock INTEGER NOT NULL DEFAULT 0
)`,
  `CREATE TABLE orders (
  id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id),
  status TEXT NOT NULL CHECK (status IN ('open', 'paid', 'shipped', 'cancelled')), ordered_at TEXT NOT NULL
)`,
  `CREATE TABLE order_items (
  order_id INTEGER NOT NULL REFERENCES orders(id) ON DELETE CASCADE,
  product_id INTEGER NOT NULL REFERENCES products(id), quantity INTEGER NOT NULL CHECK (quantity > 0),
  PRIMARY KEY (order_id, product_id)
)`,
  "CREATE INDEX orders_customer_id ON orders(customer_id)",
  "CREATE INDEX order_items_product_id ON order_items(product_id)",
];

const people = [
  ["Ada", "Lisbon"],
  ["Bruno", "Porto"],
  ["Chiara", "Milan"],
  ["Dmitri", "Riga"],
  ["Elif", "Izmir"],
  ["Farid", "Lyon"],
  ["Greta", "Malmo"],
  ["Hiro", "Osaka"],
  ["Ines", "Lisbon"],
  ["Jonas", "Bergen"],
  ["Kemi", "Lagos"],
  ["Lucia", "Milan"],
] as const;

const goods = [
  ["Notebook", 450, 120],
  ["Fountain pen", 2900, 35],
  ["Ink bottle", 1150, 64],
  ["Pencil set", 780, 90],
  ["Desk lamp", 5400, 12],
  ["Paper tray", 1990, 28],
  ["Stapler", 1350, 41],
  ["Wall calendar", 1600, 0],
] as const;

/** Table, column, description. Without a column it is about the table, without both about the database. */
const descriptions = [
  ["", "", "A small stationery shop: who buys, what is sold, and every order"],
  ["customers", "", "People who have an account in the shop"],
  ["customers", "email", "Address for receipts, one account each"],
  ["customers", "city", "Where the parcels go"],
  ["products", "", "What the shop sells"],
  ["products", "price_cents", "Price of one piece in euro cents, tax included"],
  ["products", "stock", "Pieces on the shelf"],
  ["orders", "", "One row an order; its lines are in order_items"],
  ["orders", "status", "open until it is paid, then shipped; or cancelled"],
  ["orders", "ordered_at", "Time of the order, UTC, ISO 8601"],
  ["order_items", "", "The lines of an order: which product and how many"],
] as const;

/** Statements that create the tables in an empty database and fill them. */
export function demoShop(): ServiceStatement[] {
  return [
    ...tables.map((sql) => ({ sql, params: [] })),
    ...people.map(([name, city], at) => insertCustomer(at + 1, name, city)),
    ...goods.map(([name, priceCents, stock], at) => ({
      sql: "INSERT INTO products VALUES (?, ?, ?, ?)",
      params: [at + 1, name, priceCents, stock],
    })),
    ...Array.from({ length: 30 }, (_, at) => insertOrder(at + 1)).flat(),
    ...descriptions.map((row) => ({
      sql: "INSERT INTO _service_meta_description VALUES (?, ?, ?)",
      params: [...row],
    })),
  ];
}

function insertCustomer(id: number, name: string, city: string): ServiceStatement {
  const joined = new Date(FIRST_ORDER_MS - (40 - id) * DAY_MS).toISOString();
  return {
    sql: "INSERT INTO customers VALUES (?, ?, ?, ?, ?)",
    params: [id, name, `${name.toLowerCase()}@example.com`, city, joined],
  };
}

/** One order with one to three lines; its number decides customer, products and state. */
function insertOrder(id: number): ServiceStatement[] {
  const status = ["paid", "shipped", "open", "shipped", "cancelled"][id % 5] ?? "open";
  const orderedAt = new Date(FIRST_ORDER_MS + id * DAY_MS + id * 37 * MINUTE_MS).toISOString();
  const lines = Array.from({ length: 1 + id % 3 }, (_, line) => ({
    sql: "INSERT INTO order_items VALUES (?, ?, ?)",
    params: [id, 1 + (id * 3 + line * 2) % goods.length, 1 + (id + line) % 4],
  }));
  return [{
    sql: "INSERT INTO orders VALUES (?, ?, ?, ?)",
    params: [id, 1 + (id * 5) % people.length, status, orderedAt],
  }, ...lines];
}
