// A restaurant: tables that are reserved, dishes that come off the menu, orders that are paid or not.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const restaurant: EverydaySchema = {
  name: "restaurant",
  tables: ["waiters", "dining_tables", "reservations", "dishes", "orders", "order_lines"],
  statements: statementsOf(`
CREATE TABLE waiters (id INTEGER PRIMARY KEY, name TEXT NOT NULL, hired_on TEXT NOT NULL, left_on TEXT);
CREATE TABLE dining_tables (id INTEGER PRIMARY KEY, label TEXT NOT NULL, seats INTEGER NOT NULL, outdoor INTEGER NOT NULL DEFAULT 0);
CREATE TABLE reservations (id INTEGER PRIMARY KEY, dining_table_id INTEGER NOT NULL REFERENCES dining_tables(id), guest_name TEXT NOT NULL, phone TEXT, party_size INTEGER NOT NULL, starts_at TEXT NOT NULL, cancelled_at TEXT, arrived_at TEXT);
CREATE TABLE dishes (id INTEGER PRIMARY KEY, name TEXT NOT NULL, course TEXT NOT NULL, price_cents INTEGER NOT NULL, calories INTEGER, vegetarian INTEGER NOT NULL, removed_on TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, dining_table_id INTEGER NOT NULL REFERENCES dining_tables(id), waiter_id INTEGER NOT NULL REFERENCES waiters(id), ordered_at TEXT NOT NULL, paid_at TEXT, tip_cents INTEGER NOT NULL DEFAULT 0, payment_method TEXT);
CREATE TABLE order_lines (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id), dish_id INTEGER NOT NULL REFERENCES dishes(id), quantity INTEGER NOT NULL);
INSERT INTO waiters VALUES (1,'Anton','2021-05-01',NULL),(2,'Bea','2024-02-10','2026-01-31'),(3,'Carlo','2026-02-01',NULL),(4,'Dora','2026-03-10',NULL);
INSERT INTO dining_tables VALUES (1,'T1',2,0),(2,'T2',4,0),(3,'T3',6,1),(4,'T4',8,1);
INSERT INTO reservations VALUES (1,1,'Evans','0171 1',2,'2026-03-17 19:00:00',NULL,'2026-03-17 19:05:00'),(2,2,'Fischer',NULL,4,'2026-03-17 20:00:00','2026-03-16 10:00:00',NULL),(3,3,'Gomez','0171 3',5,'2026-03-18 19:30:00',NULL,NULL),(4,4,'Hart',NULL,8,'2026-03-19 18:00:00',NULL,NULL),(5,2,'Evans','0171 1',3,'2026-03-27 20:00:00',NULL,NULL),(6,1,'Ito','0171 6',2,'2026-02-14 19:00:00',NULL,NULL);
INSERT INTO dishes VALUES (1,'Onion Soup','Starter',790,240,1,NULL),(2,'Beef Tartare','Starter',1450,380,0,NULL),(3,'Risotto','Main',1690,720,1,NULL),(4,'Lamb Chops','Main',2890,910,0,NULL),(5,'Cheesecake','Dessert',850,560,1,NULL),(6,'Trout','Main',2350,NULL,0,'2026-02-28');
INSERT INTO orders VALUES (1,1,1,'2026-02-14 19:20:00','2026-02-14 21:00:00',500,'card'),(2,2,2,'2026-01-20 20:10:00','2026-01-20 22:00:00',0,'cash'),(3,3,1,'2026-03-10 19:00:00','2026-03-10 20:45:00',800,'card'),(4,1,3,'2026-03-17 19:15:00','2026-03-17 21:30:00',300,'cash'),(5,4,1,'2026-03-18 09:30:00',NULL,0,NULL);
INSERT INTO order_lines VALUES (1,1,1,2),(2,1,4,2),(3,2,3,1),(4,3,3,3),(5,3,5,3),(6,4,1,1),(7,4,3,1),(8,5,5,4);
`),
  descriptions: [
    {
      table: "reservations",
      columns: [
        { column: "party_size", description: "How many guests come" },
        { column: "arrived_at", description: "When the guests arrived; empty until then" },
      ],
    },
    {
      table: "dishes",
      columns: [
        { column: "course", description: "Starter, Main or Dessert" },
        { column: "vegetarian", description: "1 when vegetarian" },
        { column: "removed_on", description: "Day on which it was removed; empty while on the menu" },
      ],
    },
    {
      table: "dining_tables",
      columns: [{ column: "outdoor", description: "1 when outdoor, 0 when indoor" }],
    },
    { table: "orders", columns: [{ column: "tip_cents", description: "Tip for the waiter, in euro cents" }] },
  ],
  questions: [
    { q: "Which dishes are vegetarian?", sql: "SELECT name FROM dishes WHERE vegetarian = 1" },
    { q: "Which dishes have been removed?", sql: "SELECT name FROM dishes WHERE removed_on IS NOT NULL" },
    {
      q: "starters under 10 euros",
      sql: "SELECT name FROM dishes WHERE course = 'Starter' AND price_cents < 1000",
    },
    {
      q: "What's the most expensive main?",
      sql: "SELECT name FROM dishes WHERE course = 'Main' ORDER BY price_cents DESC LIMIT 1",
    },
    {
      q: "How many reservations do we have tomorrow?",
      sql: "SELECT count(*) FROM reservations WHERE date(starts_at) = '2026-03-19'",
    },
    {
      q: "Which reservations were cancelled?",
      sql: "SELECT id FROM reservations WHERE cancelled_at IS NOT NULL",
    },
    { q: "reservations for more than 4 guests", sql: "SELECT id FROM reservations WHERE party_size > 4" },
    { q: "Which reservations have no phone number?", sql: "SELECT id FROM reservations WHERE phone IS NULL" },
    { q: "unpaid orders", sql: "SELECT id FROM orders WHERE paid_at IS NULL" },
    {
      q: "orders served by Anton",
      sql: "SELECT id FROM orders WHERE waiter_id = 1",
    },
    { q: "average tip in euros", sql: "SELECT avg(tip_cents) / 100.0 FROM orders" },
    {
      q: "tips per waiter",
      sql: [
        "SELECT w.name, sum(o.tip_cents) FROM orders o JOIN waiters w ON w.id = o.waiter_id GROUP BY w.id",
        "SELECT w.name, sum(o.tip_cents) / 100.0 FROM orders o JOIN waiters w ON w.id = o.waiter_id GROUP BY w.id",
      ],
    },
    {
      q: "which waiter took the most orders?",
      sql:
        "SELECT w.name FROM orders o JOIN waiters w ON w.id = o.waiter_id GROUP BY w.id ORDER BY count(*) DESC LIMIT 1",
    },
    {
      q: "dishes that were never ordered",
      sql: "SELECT name FROM dishes WHERE id NOT IN (SELECT dish_id FROM order_lines)",
    },
    {
      q: "outdoor tables with at least 6 seats",
      sql: "SELECT label FROM dining_tables WHERE outdoor = 1 AND seats >= 6",
    },
    { q: "orders paid in cash", sql: "SELECT id FROM orders WHERE payment_method = 'cash'" },
    { q: "waiters hired this year", sql: "SELECT name FROM waiters WHERE hired_on >= '2026-01-01'" },
    { q: "number of dishes per course", sql: "SELECT course, count(*) FROM dishes GROUP BY course" },
    { q: "Which dishes contain nuts?", mustRefuse: true },
    { q: "Which waiter got a complaint?", mustRefuse: true },
  ],
};
