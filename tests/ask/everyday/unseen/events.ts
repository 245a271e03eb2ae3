// Events and their tickets: free ones, refunded ones, those whose holder came.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const events: EverydaySchema = {
  name: "events",
  tables: ["venues", "events", "attendees", "tickets"],
  statements: statementsOf(`
CREATE TABLE venues (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, seats INTEGER NOT NULL, wheelchair_accessible INTEGER NOT NULL);
CREATE TABLE events (id INTEGER PRIMARY KEY, title TEXT NOT NULL, venue_id INTEGER NOT NULL REFERENCES venues(id), starts_on TEXT NOT NULL, ends_on TEXT NOT NULL, category TEXT NOT NULL, cancelled INTEGER NOT NULL DEFAULT 0);
CREATE TABLE attendees (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, country TEXT NOT NULL);
CREATE TABLE tickets (id INTEGER PRIMARY KEY, event_id INTEGER NOT NULL REFERENCES events(id), attendee_id INTEGER NOT NULL REFERENCES attendees(id), price_cents INTEGER NOT NULL, bought_at TEXT NOT NULL, checked_in_at TEXT, refunded_at TEXT, channel TEXT NOT NULL CHECK (channel IN ('web','door','partner')));
INSERT INTO venues VALUES (1,'Grand Hall','Vienna',1200,1),(2,'Cellar Club','Prague',180,0),(3,'Lakeside Stage','Zurich',5000,1),(4,'Old Mill','Prague',300,1);
INSERT INTO events VALUES (1,'Winter Jazz',1,'2026-01-17','2026-01-17','Music',0),(2,'Code Camp',3,'2026-02-20','2026-02-22','Tech',0),(3,'Stand-up Night',2,'2026-03-06','2026-03-06','Comedy',1),(4,'Spring Fair',3,'2026-03-17','2026-03-20','Fair',0),(5,'Data Summit',1,'2026-04-14','2026-04-15','Tech',0),(6,'Opera Gala',1,'2026-05-30','2026-05-30','Music',0),(7,'Indie Fest',3,'2026-07-03','2026-07-05','Music',1);
INSERT INTO attendees VALUES (1,'Amara Obi','amara@example.com','Nigeria'),(2,'Basil Hart','basil@example.com','Ireland'),(3,'Cora Lenz','cora@example.com','Austria'),(4,'Dario Conti',NULL,'Italy'),(5,'Elif Kaya','elif@example.com','Turkey'),(6,'Felix Baum','felix@example.com','Austria');
INSERT INTO tickets VALUES (1,1,1,4500,'2025-12-20 10:00:00','2026-01-17 18:40:00',NULL,'web'),(2,1,2,4500,'2026-01-02 10:00:00',NULL,NULL,'web'),(3,2,3,12900,'2026-01-15 10:00:00','2026-02-20 08:55:00',NULL,'partner'),(4,2,4,9900,'2026-02-01 10:00:00','2026-02-20 09:20:00',NULL,'web'),(5,3,2,1800,'2026-02-10 10:00:00',NULL,'2026-03-01 12:00:00','web'),(6,3,5,1800,'2026-02-27 10:00:00',NULL,'2026-03-01 12:05:00','partner'),(7,4,1,0,'2026-03-01 10:00:00','2026-03-17 10:30:00',NULL,'web'),(8,4,3,0,'2026-03-17 10:00:00','2026-03-17 11:00:00',NULL,'door'),(9,5,1,29900,'2026-03-02 10:00:00',NULL,NULL,'web'),(10,5,4,34900,'2026-03-11 10:00:00',NULL,NULL,'web'),(11,6,5,8900,'2026-03-13 10:00:00',NULL,NULL,'partner'),(12,7,2,15900,'2026-03-05 10:00:00',NULL,NULL,'web'),(13,6,1,8900,'2026-03-16 10:00:00',NULL,NULL,'web');
`),
  descriptions: [
    {
      table: "tickets",
      columns: [
        { column: "price_cents", description: "Price paid, in euro cents; 0 for free tickets" },
        { column: "checked_in_at", description: "When the attendee came through the door; empty until then" },
        { column: "refunded_at", description: "When the money was given back; empty otherwise" },
        { column: "channel", description: "Where it was sold: web, door or partner" },
      ],
    },
    { table: "events", columns: [{ column: "ends_on", description: "Last day of the event" }] },
  ],
  questions: [
    { q: "Which events have been cancelled?", sql: "SELECT title FROM events WHERE cancelled = 1" },
    {
      q: "Which events take place in Vienna?",
      sql: "SELECT title FROM events WHERE venue_id = 1",
    },
    { q: "Show me tickets over 100 euros", sql: "SELECT id FROM tickets WHERE price_cents > 10000" },
    {
      q: "How many people checked in at Code Camp?",
      sql: "SELECT count(*) FROM tickets WHERE event_id = 2 AND checked_in_at IS NOT NULL",
    },
    {
      q: "Who bought a ticket for Data Summit?",
      sql: "SELECT a.name FROM tickets t JOIN attendees a ON a.id = t.attendee_id WHERE t.event_id = 5",
    },
    { q: "Which tickets were refunded?", sql: "SELECT id FROM tickets WHERE refunded_at IS NOT NULL" },
    { q: "How many free tickets are there?", sql: "SELECT count(*) FROM tickets WHERE price_cents = 0" },
    {
      q: "Which venues aren't wheelchair accessible?",
      sql: "SELECT name FROM venues WHERE wheelchair_accessible = 0",
    },
    {
      q: "Which events are running today?",
      sql: "SELECT title FROM events WHERE starts_on <= '2026-03-18' AND ends_on >= '2026-03-18'",
    },
    {
      q: "Which attendee has the most tickets?",
      sql:
        "SELECT a.name FROM tickets t JOIN attendees a ON a.id = t.attendee_id GROUP BY a.id ORDER BY count(*) DESC LIMIT 1",
    },
    {
      q: "tickets sold per event",
      sql: "SELECT e.title, count(*) FROM tickets t JOIN events e ON e.id = t.event_id GROUP BY e.id",
    },
    {
      q: "sum of ticket prices by channel",
      sql: [
        "SELECT channel, sum(price_cents) FROM tickets GROUP BY channel",
        "SELECT channel, sum(price_cents) / 100.0 FROM tickets GROUP BY channel",
      ],
    },
    { q: "largest venue", sql: "SELECT name FROM venues ORDER BY seats DESC LIMIT 1" },
    {
      q: "events next month",
      sql: "SELECT title FROM events WHERE starts_on >= '2026-04-01' AND starts_on < '2026-05-01'",
    },
    { q: "venues with more than 250 seats", sql: "SELECT name FROM venues WHERE seats > 250" },
    { q: "attendees not from Austria", sql: "SELECT name FROM attendees WHERE country <> 'Austria'" },
    { q: "events that last more than one day", sql: "SELECT title FROM events WHERE ends_on > starts_on" },
    {
      q: "tickets bought last week",
      sql: "SELECT id FROM tickets WHERE bought_at >= '2026-03-09' AND bought_at < '2026-03-16'",
    },
    { q: "Who speaks at Data Summit?", mustRefuse: true },
    { q: "number of vegetarian meals", mustRefuse: true },
  ],
};
