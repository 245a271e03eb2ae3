// A gym: memberships that end by a date, classes with and without a trainer, bookings that wait.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const gym: EverydaySchema = {
  name: "gym",
  tables: ["plans", "members", "trainers", "classes", "bookings"],
  statements: statementsOf(`
CREATE TABLE plans (id INTEGER PRIMARY KEY, name TEXT NOT NULL, monthly_fee_cents INTEGER NOT NULL, min_term_months INTEGER NOT NULL);
CREATE TABLE members (id INTEGER PRIMARY KEY, name TEXT NOT NULL, plan_id INTEGER NOT NULL REFERENCES plans(id), joined_on TEXT NOT NULL, cancelled_on TEXT, birth_date TEXT, email TEXT);
CREATE TABLE trainers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, speciality TEXT NOT NULL, hourly_rate_cents INTEGER NOT NULL);
CREATE TABLE classes (id INTEGER PRIMARY KEY, title TEXT NOT NULL, trainer_id INTEGER REFERENCES trainers(id), starts_at TEXT NOT NULL, duration_min INTEGER NOT NULL, capacity INTEGER NOT NULL, room TEXT NOT NULL);
CREATE TABLE bookings (id INTEGER PRIMARY KEY, class_id INTEGER NOT NULL REFERENCES classes(id), member_id INTEGER NOT NULL REFERENCES members(id), booked_at TEXT NOT NULL, attended INTEGER, waitlisted INTEGER NOT NULL DEFAULT 0);
INSERT INTO plans VALUES (1,'Basic',1990,1),(2,'Plus',2990,6),(3,'Premium',4990,12),(4,'Student',1490,1);
INSERT INTO members VALUES (1,'Aaron Blake',1,'2024-05-02',NULL,'1988-02-02','aaron@example.com'),(2,'Bella Costa',2,'2025-01-13','2026-02-28','1995-07-21','bella@example.com'),(3,'Chen Wei',3,'2025-07-19',NULL,'1979-10-10','chen@example.com'),(4,'Dina Farouk',1,'2025-12-30',NULL,'2003-04-04',NULL),(5,'Emil Novak',2,'2026-01-04',NULL,'1991-12-25','emil@example.com'),(6,'Freya Dahl',3,'2026-02-12',NULL,'1984-06-06','freya@example.com'),(7,'Gus Ortiz',1,'2026-03-10','2026-03-15','1999-01-31',NULL);
INSERT INTO trainers VALUES (1,'Hector Ruiz','Strength',4500),(2,'Ida Berg','Yoga',3800),(3,'Jamal King','Cycling',4000),(4,'Kira Sol','Yoga',5200);
INSERT INTO classes VALUES (1,'Power Lift',1,'2026-03-02 18:00:00',60,10,'A'),(2,'Morning Yoga',2,'2026-03-05 07:00:00',45,15,'B'),(3,'Spin 45',3,'2026-03-12 19:00:00',45,20,'C'),(4,'Deep Stretch',2,'2026-03-16 20:00:00',30,15,'B'),(5,'Iron Hour',1,'2026-03-19 18:00:00',60,10,'A'),(6,'Night Ride',3,'2026-03-24 21:00:00',90,20,'C'),(7,'Open Floor',NULL,'2026-03-28 10:00:00',120,40,'A');
INSERT INTO bookings VALUES (1,1,1,'2026-02-27 09:00:00',1,0),(2,1,3,'2026-02-28 09:00:00',0,0),(3,2,5,'2026-03-01 09:00:00',1,0),(4,2,6,'2026-03-03 09:00:00',1,0),(5,2,1,'2026-03-04 09:00:00',0,0),(6,3,3,'2026-03-10 09:00:00',1,0),(7,3,7,'2026-03-11 09:00:00',1,0),(8,4,6,'2026-03-14 09:00:00',0,0),(9,5,1,'2026-03-15 09:00:00',NULL,0),(10,5,5,'2026-03-16 09:00:00',NULL,1),(11,6,6,'2026-03-17 09:00:00',NULL,0),(12,6,3,'2026-03-17 10:00:00',NULL,1);
`),
  descriptions: [
    {
      table: "members",
      columns: [{
        column: "cancelled_on",
        description: "Day on which the membership was cancelled; empty while it is active",
      }],
    },
    {
      table: "bookings",
      columns: [
        { column: "attended", description: "1 when the member came, 0 when not; empty before the class" },
        { column: "waitlisted", description: "1 while on the waitlist" },
      ],
    },
    {
      table: "plans",
      columns: [{ column: "monthly_fee_cents", description: "What it costs a month, in euro cents" }],
    },
  ],
  questions: [
    { q: "Which members have cancelled?", sql: "SELECT name FROM members WHERE cancelled_on IS NOT NULL" },
    {
      q: "How many active members do we have?",
      sql: "SELECT count(*) FROM members WHERE cancelled_on IS NULL",
    },
    {
      q: "Which plans cost less than 30 euros a month?",
      sql: "SELECT name FROM plans WHERE monthly_fee_cents < 3000",
    },
    {
      q: "Who joined in February?",
      sql: "SELECT name FROM members WHERE joined_on >= '2026-02-01' AND joined_on < '2026-03-01'",
    },
    { q: "Which classes have no trainer yet?", sql: "SELECT title FROM classes WHERE trainer_id IS NULL" },
    {
      q: "Which classes run for more than an hour?",
      sql: "SELECT title FROM classes WHERE duration_min > 60",
    },
    {
      q: "Who is on the waitlist for Iron Hour?",
      sql:
        "SELECT m.name FROM bookings b JOIN members m ON m.id = b.member_id WHERE b.class_id = 5 AND b.waitlisted = 1",
    },
    {
      q: "Which members have never booked a class?",
      sql: "SELECT name FROM members WHERE id NOT IN (SELECT member_id FROM bookings)",
    },
    { q: "Which trainers do yoga?", sql: "SELECT name FROM trainers WHERE speciality = 'Yoga'" },
    { q: "what is our cheapest plan?", sql: "SELECT name FROM plans ORDER BY monthly_fee_cents LIMIT 1" },
    {
      q: "bookings per class",
      sql: [
        "SELECT c.title, count(*) FROM bookings b JOIN classes c ON c.id = b.class_id GROUP BY c.id",
        "SELECT c.title, count(b.id) FROM classes c LEFT JOIN bookings b ON c.id = b.class_id GROUP BY c.id",
      ],
    },
    {
      q: "members who did not attend Morning Yoga",
      sql:
        "SELECT m.name FROM bookings b JOIN members m ON m.id = b.member_id WHERE b.class_id = 2 AND b.attended = 0",
    },
    {
      q: "average hourly rate of trainers",
      sql: [
        "SELECT avg(hourly_rate_cents) FROM trainers",
        "SELECT avg(hourly_rate_cents) / 100.0 FROM trainers",
      ],
    },
    { q: "members on the Premium plan", sql: "SELECT name FROM members WHERE plan_id = 3" },
    {
      q: "classes this week",
      sql: "SELECT title FROM classes WHERE starts_at >= '2026-03-16' AND starts_at < '2026-03-23'",
    },
    {
      q: "upcoming classes in room A",
      sql: "SELECT title FROM classes WHERE room = 'A' AND starts_at > '2026-03-18 10:00:00'",
    },
    {
      q: "class with the most bookings",
      sql:
        "SELECT c.title FROM bookings b JOIN classes c ON c.id = b.class_id GROUP BY c.id ORDER BY count(*) DESC LIMIT 1",
    },
    {
      q: "number of members by plan",
      sql: [
        "SELECT p.name, count(*) FROM members m JOIN plans p ON p.id = m.plan_id GROUP BY p.id",
        "SELECT p.name, count(m.id) FROM plans p LEFT JOIN members m ON p.id = m.plan_id GROUP BY p.id",
      ],
    },
    { q: "Which members rent a locker?", mustRefuse: true },
    { q: "trainer with the best reviews", mustRefuse: true },
  ],
};
