// Cars for rent: picked up at one branch and returned at another, kilometres and days, damages that were repaired or not.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const carRental: EverydaySchema = {
  name: "car-rental",
  tables: ["branches", "cars", "renters", "rentals", "damages"],
  statements: statementsOf(`
CREATE TABLE branches (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL);
CREATE TABLE cars (id INTEGER PRIMARY KEY, plate TEXT NOT NULL UNIQUE, brand TEXT NOT NULL, model TEXT NOT NULL, fuel TEXT NOT NULL, odometer_km INTEGER NOT NULL, daily_rate_cents INTEGER NOT NULL, sold_on TEXT, branch_id INTEGER NOT NULL REFERENCES branches(id));
CREATE TABLE renters (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, birth_date TEXT NOT NULL, blocked INTEGER NOT NULL DEFAULT 0);
CREATE TABLE rentals (id INTEGER PRIMARY KEY, car_id INTEGER NOT NULL REFERENCES cars(id), renter_id INTEGER NOT NULL REFERENCES renters(id), pickup_branch_id INTEGER NOT NULL REFERENCES branches(id), return_branch_id INTEGER NOT NULL REFERENCES branches(id), picked_up_at TEXT, returned_at TEXT, booked_on TEXT NOT NULL, total_cents INTEGER NOT NULL, insured INTEGER NOT NULL);
CREATE TABLE damages (id INTEGER PRIMARY KEY, rental_id INTEGER NOT NULL REFERENCES rentals(id), kind TEXT NOT NULL, reported_on TEXT NOT NULL, repaired_on TEXT, cost_cents INTEGER);
INSERT INTO branches VALUES (1,'Airport','Lisbon'),(2,'Old Town','Porto'),(3,'Station','Faro');
INSERT INTO cars VALUES (1,'AA-01','Fiat','Panda','petrol',42000,3900,NULL,1),(2,'AA-02','Tesla','Model 3','electric',15000,8900,NULL,1),(3,'BB-03','Volvo','V60','diesel',98000,6500,'2026-02-01',2),(4,'BB-04','Fiat','Tipo','petrol',61000,4500,NULL,2),(5,'CC-05','Renault','Zoe','electric',30500,4900,NULL,3);
INSERT INTO renters VALUES (1,'Iris Blom','iris@example.com','1970-05-05',0),(2,'Jack Ode','jack@example.com','2003-09-09',0),(3,'Kim Lau',NULL,'1991-01-01',1),(4,'Leo Marsh','leo@example.com','1955-12-12',0);
INSERT INTO rentals VALUES (1,1,1,1,2,'2026-01-10 09:00:00','2026-01-14 10:00:00','2026-01-02',15600,1),(2,3,3,2,2,'2026-01-20 09:00:00','2026-01-22 18:00:00','2026-01-19',13000,0),(3,2,1,1,1,'2026-02-20 08:00:00','2026-02-21 08:00:00','2026-02-18',8900,1),(4,4,2,2,1,'2026-03-12 12:00:00',NULL,'2026-03-01',27000,0),(5,5,1,3,1,'2026-03-16 10:00:00',NULL,'2026-03-10',14700,1),(6,1,2,1,3,NULL,NULL,'2026-03-17',7800,1);
INSERT INTO damages VALUES (1,1,'scratch','2026-01-14','2026-01-20',12000),(2,2,'dent','2026-01-22',NULL,NULL),(3,3,'glass','2026-02-21','2026-03-02',34000),(4,2,'scratch','2026-01-22','2026-01-25',9000);
`),
  descriptions: [
    {
      table: "rentals",
      columns: [
        { column: "picked_up_at", description: "When the car was picked up; empty until then" },
        { column: "returned_at", description: "When the car came back; empty while it is out" },
        { column: "total_cents", description: "Price of the rental, in euro cents" },
        { column: "insured", description: "1 when insured" },
      ],
    },
    {
      table: "cars",
      columns: [
        { column: "sold_on", description: "Day on which we sold it; empty while it is ours" },
        { column: "daily_rate_cents", description: "What it costs a day, in euro cents" },
        { column: "odometer_km", description: "How far it was driven" },
      ],
    },
    {
      table: "damages",
      columns: [{ column: "repaired_on", description: "Day of the repair; empty until it is repaired" }],
    },
  ],
  questions: [
    {
      q: "Which rentals haven't been returned yet?",
      sql: "SELECT id FROM rentals WHERE returned_at IS NULL",
    },
    { q: "Which cars were sold?", sql: "SELECT plate FROM cars WHERE sold_on IS NOT NULL" },
    { q: "Show me all electric cars", sql: "SELECT plate FROM cars WHERE fuel = 'electric'" },
    {
      q: "Which cars cost less than 50 euros a day?",
      sql: "SELECT plate FROM cars WHERE daily_rate_cents < 5000",
    },
    { q: "cars with more than 60000 km", sql: "SELECT plate FROM cars WHERE odometer_km > 60000" },
    {
      q: "How many rentals were booked this month?",
      sql: "SELECT count(*) FROM rentals WHERE booked_on >= '2026-03-01'",
    },
    {
      q: "Who rented the AA-01?",
      sql: "SELECT DISTINCT r.name FROM rentals n JOIN renters r ON r.id = n.renter_id WHERE n.car_id = 1",
    },
    {
      q: "rentals picked up in Lisbon",
      sql: "SELECT id FROM rentals WHERE pickup_branch_id = 1",
    },
    {
      q: "rentals returned last month",
      sql: "SELECT id FROM rentals WHERE returned_at >= '2026-02-01' AND returned_at < '2026-03-01'",
    },
    { q: "rentals without insurance", sql: "SELECT id FROM rentals WHERE insured = 0" },
    { q: "unrepaired damages", sql: "SELECT id FROM damages WHERE repaired_on IS NULL" },
    {
      q: "total repair cost per kind",
      sql: [
        "SELECT kind, sum(cost_cents) FROM damages GROUP BY kind",
        "SELECT kind, sum(cost_cents) / 100.0 FROM damages GROUP BY kind",
      ],
    },
    { q: "renters older than 65", sql: "SELECT name FROM renters WHERE birth_date < '1961-03-18'" },
    { q: "blocked renters", sql: "SELECT name FROM renters WHERE blocked = 1" },
    {
      q: "renter with the most rentals",
      sql:
        "SELECT r.name FROM rentals n JOIN renters r ON r.id = n.renter_id GROUP BY r.id ORDER BY count(*) DESC LIMIT 1",
    },
    {
      q: "cars that were never rented",
      sql: "SELECT plate FROM cars WHERE id NOT IN (SELECT car_id FROM rentals)",
    },
    {
      q: "number of cars per branch",
      sql: "SELECT b.name, count(*) FROM cars c JOIN branches b ON b.id = c.branch_id GROUP BY b.id",
    },
    {
      q: "most expensive rental",
      sql: "SELECT id FROM rentals ORDER BY total_cents DESC LIMIT 1",
    },
    { q: "Which cars need an oil change?", mustRefuse: true },
    { q: "rentals paid with a voucher", mustRefuse: true },
  ],
};
