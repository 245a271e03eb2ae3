// A charity: donors, gifts once or every month, volunteers and their hours.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const charity: EverydaySchema = {
  name: "charity",
  tables: ["donors", "campaigns", "donations", "volunteers", "shifts"],
  statements: statementsOf(`
CREATE TABLE donors (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, country TEXT NOT NULL, is_company INTEGER NOT NULL DEFAULT 0, unsubscribed_at TEXT);
CREATE TABLE campaigns (id INTEGER PRIMARY KEY, title TEXT NOT NULL, goal_cents INTEGER NOT NULL, starts_on TEXT NOT NULL, ends_on TEXT);
CREATE TABLE donations (id INTEGER PRIMARY KEY, donor_id INTEGER REFERENCES donors(id), campaign_id INTEGER NOT NULL REFERENCES campaigns(id), amount_cents INTEGER NOT NULL, donated_at TEXT NOT NULL, recurring INTEGER NOT NULL, refunded_at TEXT, receipt_sent_at TEXT);
CREATE TABLE volunteers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, joined_on TEXT NOT NULL, status TEXT NOT NULL CHECK (status IN ('active','paused','left')));
CREATE TABLE shifts (id INTEGER PRIMARY KEY, volunteer_id INTEGER NOT NULL REFERENCES volunteers(id), campaign_id INTEGER NOT NULL REFERENCES campaigns(id), day TEXT NOT NULL, duration_min INTEGER NOT NULL);
INSERT INTO donors VALUES (1,'Mona Reed','mona@example.com','Ireland',0,NULL),(2,'Nils Co','office@example.com','Norway',1,NULL),(3,'Olga Sand',NULL,'Norway',0,'2026-01-15 10:00:00'),(4,'Paul Teller','paul@example.com','France',0,NULL),(5,'Quill Ltd',NULL,'Ireland',1,'2025-12-01 10:00:00');
INSERT INTO campaigns VALUES (1,'Clean Water',5000000,'2025-10-01','2026-03-31'),(2,'School Books',800000,'2026-01-15',NULL),(3,'Warm Winter',1200000,'2025-11-01','2026-02-28'),(4,'Green Roofs',300000,'2026-04-01',NULL);
INSERT INTO donations VALUES (1,1,1,5000,'2025-12-24 10:00:00',0,NULL,'2025-12-26 10:00:00'),(2,2,1,250000,'2026-01-10 10:00:00',0,NULL,'2026-01-12 10:00:00'),(3,1,2,2500,'2026-02-01 10:00:00',1,NULL,'2026-02-03 10:00:00'),(4,1,2,2500,'2026-03-01 10:00:00',1,NULL,NULL),(5,3,3,10000,'2026-02-10 10:00:00',0,'2026-02-12 10:00:00',NULL),(6,NULL,3,700,'2026-02-27 10:00:00',0,NULL,NULL),(7,4,1,7500,'2026-03-17 10:00:00',1,NULL,NULL),(8,5,2,99900,'2026-03-05 10:00:00',0,NULL,'2026-03-06 10:00:00');
INSERT INTO volunteers VALUES (1,'Ravi Sol','Dublin','2024-09-01','active'),(2,'Sara Tan','Oslo','2025-03-10','paused'),(3,'Tom Urban','Oslo','2026-02-14','active'),(4,'Una Vik','Paris','2023-01-05','left');
INSERT INTO shifts VALUES (1,1,1,'2026-01-17',240),(2,1,3,'2026-02-07',180),(3,3,2,'2026-03-07',90),(4,3,1,'2026-03-14',300),(5,4,3,'2025-11-22',60),(6,1,2,'2026-03-21',120);
`),
  descriptions: [
    {
      table: "donations",
      description: "A gift that somebody has donated",
      columns: [
        { column: "recurring", description: "1 when it comes every month" },
        { column: "receipt_sent_at", description: "When the receipt was sent; empty until then" },
        { column: "donor_id", description: "Who gave it; empty for anonymous gifts" },
        { column: "amount_cents", description: "Amount given, in euro cents" },
      ],
    },
    { table: "donors", columns: [{ column: "is_company", description: "1 for companies" }] },
    {
      table: "campaigns",
      columns: [{ column: "goal_cents", description: "How much is to be raised, in euro cents" }],
    },
  ],
  questions: [
    { q: "Which donations were over 500 euros?", sql: "SELECT id FROM donations WHERE amount_cents > 50000" },
    {
      q: "How many donations did we get last month?",
      sql: "SELECT count(*) FROM donations WHERE donated_at >= '2026-02-01' AND donated_at < '2026-03-01'",
    },
    { q: "Which donors are companies?", sql: "SELECT name FROM donors WHERE is_company = 1" },
    { q: "Who has unsubscribed?", sql: "SELECT name FROM donors WHERE unsubscribed_at IS NOT NULL" },
    { q: "Which donors don't have an email?", sql: "SELECT name FROM donors WHERE email IS NULL" },
    { q: "anonymous donations", sql: "SELECT id FROM donations WHERE donor_id IS NULL" },
    {
      q: "Which donations have no receipt yet?",
      sql: "SELECT id FROM donations WHERE receipt_sent_at IS NULL",
    },
    {
      q: "How much was donated to Clean Water?",
      sql: [
        "SELECT sum(amount_cents) FROM donations WHERE campaign_id = 1",
        "SELECT sum(amount_cents) / 100.0 FROM donations WHERE campaign_id = 1",
      ],
    },
    { q: "refunded donations", sql: "SELECT id FROM donations WHERE refunded_at IS NOT NULL" },
    {
      q: "donors from Norway or Ireland",
      sql: "SELECT name FROM donors WHERE country IN ('Norway','Ireland')",
    },
    {
      q: "average donation per campaign",
      sql: [
        "SELECT c.title, avg(d.amount_cents) FROM donations d JOIN campaigns c ON c.id = d.campaign_id GROUP BY c.id",
        "SELECT c.title, avg(d.amount_cents) / 100.0 FROM donations d JOIN campaigns c ON c.id = d.campaign_id GROUP BY c.id",
      ],
    },
    {
      q: "campaigns without donations",
      sql: "SELECT title FROM campaigns WHERE id NOT IN (SELECT campaign_id FROM donations)",
    },
    {
      q: "donors who gave more than once",
      sql:
        "SELECT d.name FROM donations g JOIN donors d ON d.id = g.donor_id GROUP BY d.id HAVING count(*) > 1",
    },
    {
      q: "active volunteers in Oslo",
      sql: "SELECT name FROM volunteers WHERE status = 'active' AND city = 'Oslo'",
    },
    { q: "volunteers not from Oslo", sql: "SELECT name FROM volunteers WHERE city <> 'Oslo'" },
    { q: "shifts longer than 3 hours", sql: "SELECT id FROM shifts WHERE duration_min > 180" },
    {
      q: "total hours per volunteer",
      sql:
        "SELECT v.name, sum(s.duration_min) / 60.0 FROM shifts s JOIN volunteers v ON v.id = s.volunteer_id GROUP BY v.id",
    },
    { q: "largest donation", sql: "SELECT id FROM donations ORDER BY amount_cents DESC LIMIT 1" },
    { q: "Which volunteers speak French?", mustRefuse: true },
    { q: "administration costs of 2025", mustRefuse: true },
  ],
};
