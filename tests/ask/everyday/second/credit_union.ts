// A credit union: accounts in two currencies, transfers from one to another, loans with rates and days on which they are due.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const creditUnion: EverydaySchema = {
  name: "credit-union",
  tables: ["members", "accounts", "transfers", "loans"],
  statements: statementsOf(`
CREATE TABLE members (id INTEGER PRIMARY KEY, first_name TEXT NOT NULL, last_name TEXT NOT NULL, joined_on TEXT NOT NULL, email TEXT, branch TEXT NOT NULL);
CREATE TABLE accounts (id INTEGER PRIMARY KEY, member_id INTEGER NOT NULL REFERENCES members(id), kind TEXT NOT NULL, balance_cents INTEGER NOT NULL, opened_on TEXT NOT NULL, closed_on TEXT, frozen INTEGER NOT NULL DEFAULT 0);
CREATE TABLE transfers (id INTEGER PRIMARY KEY, from_account_id INTEGER NOT NULL REFERENCES accounts(id), to_account_id INTEGER NOT NULL REFERENCES accounts(id), amount_cents INTEGER NOT NULL, made_at TEXT NOT NULL, memo TEXT, state TEXT NOT NULL);
CREATE TABLE loans (id INTEGER PRIMARY KEY, member_id INTEGER NOT NULL REFERENCES members(id), principal_cents INTEGER NOT NULL, rate_pct REAL NOT NULL, started_on TEXT NOT NULL, due_on TEXT NOT NULL, repaid_on TEXT);
INSERT INTO members VALUES (1,'Petra','Novak','2015-06-01','petra@example.com','Hillside'),(2,'Ruben','Cruz','2019-11-20','ruben@example.com','Hillside'),(3,'Sofia','Lind','2022-02-14',NULL,'Downtown'),(4,'Tariq','Aziz','2025-08-08','tariq@example.com','Downtown'),(5,'Uma','Reyes','2026-03-03',NULL,'Harbor'),(6,'Viktor','Hansen','2018-09-30','viktor@example.com','Harbor');
INSERT INTO accounts VALUES (1,1,'checking',125000,'2015-06-01',NULL,0),(2,1,'savings',990000,'2016-01-10',NULL,0),(3,2,'checking',4200,'2019-11-20',NULL,1),(4,3,'checking',67050,'2022-02-14',NULL,0),(5,3,'savings',0,'2022-03-01','2025-05-30',0),(6,4,'checking',310000,'2025-08-08',NULL,0),(7,2,'savings',0,'2020-02-02','2024-12-30',0),(8,6,'checking',22000,'2018-09-30',NULL,0);
INSERT INTO transfers VALUES (1,2,1,50000,'2026-01-12 09:30:00','January','booked'),(2,6,1,75000,'2026-02-02 14:00:00',NULL,'booked'),(3,3,4,99900,'2026-02-17 08:15:00','Bike','rejected'),(4,4,6,1250,'2026-03-11 19:45:00',NULL,'booked'),(5,1,6,60000,'2026-03-17 10:00:00','Rent','pending'),(6,6,4,8000,'2026-03-18 07:20:00','Lunch','pending');
INSERT INTO loans VALUES (1,1,2000000,3.9,'2020-01-15','2025-01-15','2024-11-30'),(2,2,500000,6.5,'2023-03-01','2026-03-01',NULL),(3,4,1200000,4.75,'2025-09-01','2030-09-01',NULL),(4,2,150000,7.2,'2020-05-05','2022-05-05','2022-05-01');
`),
  descriptions: [
    {
      table: "accounts",
      columns: [
        { column: "balance_cents", description: "In euro cents" },
        { column: "closed_on", description: "Day on which it was closed; empty while it is open" },
      ],
    },
    {
      table: "transfers",
      columns: [
        { column: "amount_cents", description: "In euro cents" },
        { column: "made_at", description: "When it was made" },
        { column: "state", description: "booked, pending or rejected" },
      ],
    },
    {
      table: "loans",
      columns: [
        { column: "principal_cents", description: "Amount of the loan, in euro cents" },
        { column: "rate_pct", description: "Interest rate in percent a year" },
        { column: "due_on", description: "Day by which it has to be repaid" },
        { column: "repaid_on", description: "Day on which it was repaid; empty until then" },
      ],
    },
  ],
  questions: [
    { q: "frozen accounts", sql: "SELECT id FROM accounts WHERE frozen = 1" },
    {
      q: "Which members have more than one account?",
      sql:
        "SELECT m.first_name, m.last_name FROM members m JOIN accounts a ON a.member_id = m.id GROUP BY m.id HAVING count(*) > 1",
    },
    { q: "transfers over 500 €", sql: "SELECT id FROM transfers WHERE amount_cents > 50000" },
    {
      q: "transfers that were rejected in February",
      sql:
        "SELECT id FROM transfers WHERE state = 'rejected' AND made_at >= '2026-02-01' AND made_at < '2026-03-01'",
    },
    { q: "loans with an interest rate above 4.5%", sql: "SELECT id FROM loans WHERE rate_pct > 4.5" },
    { q: "overdue loans", sql: "SELECT id FROM loans WHERE due_on < '2026-03-18' AND repaid_on IS NULL" },
    {
      q: "total balance by kind of account",
      sql: [
        "SELECT kind, sum(balance_cents) FROM accounts GROUP BY kind",
        "SELECT kind, sum(balance_cents) / 100.0 FROM accounts GROUP BY kind",
      ],
    },
    { q: "transfers without a memo", sql: "SELECT id FROM transfers WHERE memo IS NULL" },
    {
      q: "members who joined before 2020 and don't have a savings account",
      sql:
        "SELECT first_name, last_name FROM members WHERE joined_on < '2020-01-01' AND id NOT IN (SELECT member_id FROM accounts WHERE kind = 'savings')",
    },
    {
      q: "Who has never taken out a loan?",
      sql: "SELECT first_name, last_name FROM members WHERE id NOT IN (SELECT member_id FROM loans)",
    },
    {
      q: "largest pending transfer",
      sql: "SELECT id FROM transfers WHERE state = 'pending' ORDER BY amount_cents DESC LIMIT 1",
    },
    {
      q: "how many accounts were closed last year?",
      sql: "SELECT count(*) FROM accounts WHERE closed_on LIKE '2025-%'",
    },
    {
      q: "How many members does each branch have?",
      sql: "SELECT branch, count(*) FROM members GROUP BY branch",
    },
    { q: "Which members will probably default?", mustRefuse: true },
    { q: "transfers that look like fraud", mustRefuse: true },
  ],
};
