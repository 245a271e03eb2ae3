// A shop that sends bread and pastry: money in cents, weights in grams, dates that say what became of an order.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const cornerShop: EverydaySchema = {
  name: "corner-shop",
  tables: ["customers", "products", "orders", "order_items"],
  statements: statementsOf(`
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, city TEXT, signed_up_on TEXT NOT NULL, newsletter INTEGER NOT NULL DEFAULT 0);
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, price_cents INTEGER NOT NULL, stock INTEGER NOT NULL, weight_grams INTEGER, discontinued_at TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), status TEXT NOT NULL CHECK (status IN ('new','paid','shipped','cancelled')), ordered_at TEXT NOT NULL, shipped_at TEXT, delivered_at TEXT, shipping_cents INTEGER NOT NULL);
CREATE TABLE order_items (order_id INTEGER NOT NULL REFERENCES orders(id), product_id INTEGER NOT NULL REFERENCES products(id), quantity INTEGER NOT NULL, unit_price_cents INTEGER NOT NULL, PRIMARY KEY (order_id, product_id));
INSERT INTO customers VALUES (1,'Nora Klein','nora@example.com','Berlin','2025-02-11',1),(2,'Omar Saidi','omar@example.com','Hamburg','2025-05-20',0),(3,'Pia Lund',NULL,'Berlin','2025-11-02',1),(4,'Quentin Roy','quentin@example.com','Lyon','2026-01-15',0),(5,'Rita Maes','rita@example.com','Ghent','2026-02-03',1),(6,'Sven Olsen',NULL,'Oslo','2026-02-20',0),(7,'Tara Ahmed','tara@example.com','Hamburg','2026-03-09',0);
INSERT INTO products VALUES (1,'Rye Bread','Bread',420,14,750,NULL),(2,'Baguette','Bread',180,0,250,NULL),(3,'Croissant','Pastry',210,30,80,NULL),(4,'Apple Tart','Pastry',1450,3,900,NULL),(5,'Coffee Beans','Drinks',1290,22,1000,NULL),(6,'Green Tea','Drinks',890,0,100,NULL),(7,'Honey Jar','Pantry',760,9,500,'2025-12-01'),(8,'Fruit Cake','Pastry',2400,0,1200,'2026-01-31'),(9,'Salt Crackers','Pantry',350,41,200,NULL);
INSERT INTO orders VALUES (1,1,'shipped','2025-12-20 09:10:00','2025-12-21 08:00:00','2025-12-23 12:00:00',450),(2,2,'shipped','2026-01-05 11:00:00','2026-01-07 08:00:00','2026-01-09 15:30:00',450),(3,1,'cancelled','2026-01-18 20:15:00',NULL,NULL,0),(4,3,'shipped','2026-02-02 07:45:00','2026-02-03 08:00:00','2026-02-06 10:00:00',450),(5,4,'shipped','2026-02-14 13:00:00','2026-02-16 08:00:00',NULL,990),(6,2,'paid','2026-02-25 18:20:00',NULL,NULL,450),(7,5,'cancelled','2026-03-02 09:00:00',NULL,NULL,450),(8,1,'shipped','2026-03-08 10:30:00','2026-03-10 08:00:00',NULL,450),(9,6,'paid','2026-03-12 16:00:00',NULL,NULL,1200),(10,4,'new','2026-03-16 21:05:00',NULL,NULL,990),(11,1,'new','2026-03-18 08:20:00',NULL,NULL,450);
INSERT INTO order_items VALUES (1,1,2,400),(1,3,6,200),(2,5,1,1290),(3,4,1,1450),(4,2,3,180),(4,9,2,350),(5,8,1,2400),(5,6,2,890),(6,1,1,420),(7,4,2,1450),(8,5,2,1250),(8,3,4,210),(9,9,10,340),(10,5,3,1290),(11,3,2,210),(11,1,1,420);
`),
  descriptions: [
    {
      table: "products",
      description: "What the shop sells",
      columns: [
        { column: "stock", description: "Pieces on the shelf; 0 when sold out" },
        { column: "discontinued_at", description: "Day since which it is no longer made; empty while it is" },
      ],
    },
    {
      table: "orders",
      columns: [
        { column: "ordered_at", description: "When the order was placed" },
        { column: "shipping_cents", description: "Shipping cost in euro cents" },
        { column: "delivered_at", description: "When the parcel reached the customer; empty until then" },
      ],
    },
    {
      table: "order_items",
      columns: [{ column: "quantity", description: "How many pieces were sold" }],
    },
  ],
  questions: [
    { q: "Which products are out of stock?", sql: "SELECT name FROM products WHERE stock = 0" },
    { q: "which products are under $9?", sql: "SELECT name FROM products WHERE price_cents < 900" },
    {
      q: "Which orders have been shipped but not delivered?",
      sql: "SELECT id FROM orders WHERE shipped_at IS NOT NULL AND delivered_at IS NULL",
    },
    {
      q: "Who signed up last month?",
      sql: "SELECT name FROM customers WHERE signed_up_on >= '2026-02-01' AND signed_up_on < '2026-03-01'",
    },
    {
      q: "Are there customers who never ordered anything?",
      sql: "SELECT name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)",
    },
    {
      q: "what's our most expensive pastry?",
      sql: "SELECT name FROM products WHERE category = 'Pastry' ORDER BY price_cents DESC LIMIT 1",
    },
    {
      q: "Which customers didn't give us an email address?",
      sql: "SELECT name FROM customers WHERE email IS NULL",
    },
    {
      q: "how many orders came in this month",
      sql: "SELECT count(*) FROM orders WHERE ordered_at >= '2026-03-01'",
    },
    {
      q: "Which products have been discontinued?",
      sql: "SELECT name FROM products WHERE discontinued_at IS NOT NULL",
    },
    {
      q: "How many croissants have we sold?",
      sql: "SELECT sum(quantity) FROM order_items WHERE product_id = 3",
    },
    { q: "all products except drinks", sql: "SELECT name FROM products WHERE category <> 'Drinks'" },
    {
      q: "products between 5 and 15 euros",
      sql: "SELECT name FROM products WHERE price_cents BETWEEN 500 AND 1500",
    },
    { q: "products heavier than 500 g", sql: "SELECT name FROM products WHERE weight_grams > 500" },
    {
      q: "average shipping cost of shipped orders",
      sql: [
        "SELECT avg(shipping_cents) FROM orders WHERE status = 'shipped'",
        "SELECT avg(shipping_cents) / 100.0 FROM orders WHERE status = 'shipped'",
      ],
    },
    {
      q: "top 3 customers by number of orders",
      sql:
        "SELECT c.name, count(*) n FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.id ORDER BY n DESC LIMIT 3",
    },
    {
      q: "orders of customers from Berlin",
      sql: "SELECT o.id FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.city = 'Berlin'",
    },
    { q: "orders per status", sql: "SELECT status, count(*) FROM orders GROUP BY status" },
    {
      q: "orders worth more than 20 euros",
      sql:
        "SELECT order_id FROM order_items GROUP BY order_id HAVING sum(quantity * unit_price_cents) > 2000",
    },
    { q: "Which products are gluten free?", mustRefuse: true },
    { q: "profit of last year", mustRefuse: true },
  ],
};
