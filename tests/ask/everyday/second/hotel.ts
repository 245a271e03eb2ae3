// A small hotel: rooms, guests and bookings with nights, money in cents, extras that several bookings have.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const hotel: EverydaySchema = {
  name: "hotel",
  tables: ["room", "guest", "booking", "extra", "booking_extra"],
  statements: statementsOf(`
CREATE TABLE room (id INTEGER PRIMARY KEY, number TEXT NOT NULL UNIQUE, floor INTEGER NOT NULL, type TEXT NOT NULL, rate_cents INTEGER NOT NULL, sea_view INTEGER NOT NULL DEFAULT 0, out_of_service INTEGER NOT NULL DEFAULT 0);
CREATE TABLE guest (id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, country TEXT NOT NULL, email TEXT, birth_date TEXT, vip INTEGER NOT NULL DEFAULT 0);
CREATE TABLE booking (id INTEGER PRIMARY KEY, room_id INTEGER NOT NULL REFERENCES room(id), guest_id INTEGER NOT NULL REFERENCES guest(id), check_in TEXT NOT NULL, check_out TEXT NOT NULL, booked_at TEXT NOT NULL, cancelled_at TEXT, total_cents INTEGER NOT NULL, paid INTEGER NOT NULL DEFAULT 0, channel TEXT NOT NULL);
CREATE TABLE extra (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price_cents INTEGER NOT NULL);
CREATE TABLE booking_extra (booking_id INTEGER NOT NULL REFERENCES booking(id), extra_id INTEGER NOT NULL REFERENCES extra(id), quantity INTEGER NOT NULL DEFAULT 1, PRIMARY KEY (booking_id, extra_id));
INSERT INTO room VALUES (1,'101',1,'single',7900,0,0),(2,'102',1,'double',9900,0,0),(3,'201',2,'double',12900,1,0),(4,'202',2,'double',11500,1,1),(5,'301',3,'suite',24900,1,0),(6,'302',3,'suite',21900,0,0),(7,'303',3,'single',8900,1,0);
INSERT INTO guest VALUES (1,'Marta Kowalczyk','Poland','marta@example.com','1984-02-11',1),(2,'Lars Nygaard','Norway','lars@example.com','1990-07-30',0),(3,'Aiko Tanabe','Japan',NULL,'1971-12-05',0),(4,'Paolo Conti','Italy','paolo@example.com','2001-03-18',0),(5,'Grace Obi','Nigeria','grace@example.com','1966-09-09',1),(6,'Sven Dahl','Norway',NULL,'1959-01-20',0);
INSERT INTO booking VALUES (1,3,1,'2026-01-05','2026-01-08','2025-12-01 10:00:00',NULL,38700,1,'web'),(2,5,5,'2026-02-13','2026-02-15','2026-01-20 18:30:00',NULL,49800,1,'phone'),(3,1,2,'2026-02-20','2026-02-25','2026-02-01 09:00:00','2026-02-10 08:00:00',39500,0,'web'),(4,2,4,'2026-03-16','2026-03-19','2026-02-28 12:00:00',NULL,29700,1,'agency'),(5,3,1,'2026-03-18','2026-03-22','2026-03-02 16:45:00',NULL,51600,0,'web'),(6,7,3,'2026-03-24','2026-03-27','2026-03-05 07:10:00',NULL,26700,0,'agency'),(7,6,5,'2026-03-25','2026-03-28','2026-03-09 11:11:00','2026-03-12 09:00:00',65700,0,'phone'),(8,5,2,'2026-04-03','2026-04-06','2026-03-17 20:00:00',NULL,74700,1,'web');
INSERT INTO extra VALUES (1,'Breakfast',1500),(2,'Parking',1200),(3,'Spa',4500),(4,'Late checkout',2500);
INSERT INTO booking_extra VALUES (1,1,3),(1,2,3),(2,3,2),(4,1,3),(5,1,4),(6,2,3),(8,1,3),(8,3,1);
`),
  descriptions: [
    {
      table: "room",
      description: "A room of the hotel",
      columns: [
        { column: "rate_cents", description: "Price per night, in euro cents" },
        { column: "type", description: "single, double or suite" },
        { column: "out_of_service", description: "1 while the room is being renovated" },
      ],
    },
    {
      table: "booking",
      columns: [
        { column: "check_in", description: "Day of arrival" },
        { column: "check_out", description: "Day of departure" },
        { column: "cancelled_at", description: "When it was cancelled; empty unless it was" },
        { column: "total_cents", description: "Price of the whole stay, in euro cents" },
        { column: "channel", description: "How it was booked: web, phone or agency" },
      ],
    },
  ],
  questions: [
    { q: "Which rooms have a sea view?", sql: "SELECT number FROM room WHERE sea_view = 1" },
    {
      q: "rooms without sea view for less than 100 euros a night",
      sql: "SELECT number FROM room WHERE sea_view = 0 AND rate_cents < 10000",
    },
    {
      q: "how many bookings have been cancelled so far?",
      sql: "SELECT count(*) FROM booking WHERE cancelled_at IS NOT NULL",
    },
    {
      q: "Who arrives today?",
      sql:
        "SELECT g.full_name FROM booking b JOIN guest g ON g.id = b.guest_id WHERE b.check_in = '2026-03-18'",
    },
    {
      q: "Which guests have never cancelled?",
      sql: [
        "SELECT full_name FROM guest WHERE id NOT IN (SELECT guest_id FROM booking WHERE cancelled_at IS NOT NULL)",
        "SELECT full_name FROM guest WHERE id NOT IN (SELECT guest_id FROM booking WHERE cancelled_at IS NOT NULL) " +
        "AND id IN (SELECT guest_id FROM booking)",
      ],
    },
    {
      q: "average booking total per channel",
      sql: [
        "SELECT channel, avg(total_cents) FROM booking GROUP BY channel",
        "SELECT channel, avg(total_cents) / 100.0 FROM booking GROUP BY channel",
      ],
    },
    {
      q: "Unpaid bookings checking in next week",
      sql: [
        "SELECT id FROM booking WHERE paid = 0 AND check_in BETWEEN '2026-03-23' AND '2026-03-29'",
        "SELECT id FROM booking WHERE paid = 0 AND check_in BETWEEN '2026-03-23' AND '2026-03-29' AND cancelled_at IS NULL",
      ],
    },
    {
      q: "suites on the 3rd floor",
      sql: "SELECT number FROM room WHERE type = 'suite' AND floor = 3",
    },
    {
      q: "Do we have any guests from Norway?",
      sql: [
        "SELECT full_name FROM guest WHERE country = 'Norway'",
        "SELECT count(*) FROM guest WHERE country = 'Norway'",
      ],
    },
    {
      q: "which guest has spent the most money with us?",
      sql: [
        "SELECT g.full_name FROM booking b JOIN guest g ON g.id = b.guest_id GROUP BY g.id ORDER BY sum(b.total_cents) DESC LIMIT 1",
        "SELECT g.full_name FROM booking b JOIN guest g ON g.id = b.guest_id WHERE b.cancelled_at IS NULL GROUP BY g.id " +
        "ORDER BY sum(b.total_cents) DESC LIMIT 1",
      ],
    },
    {
      q: "bookings with breakfast but no parking",
      sql:
        "SELECT id FROM booking WHERE id IN (SELECT booking_id FROM booking_extra WHERE extra_id = 1) AND id NOT IN " +
        "(SELECT booking_id FROM booking_extra WHERE extra_id = 2)",
    },
    {
      q: "the cheapest double room that isn't out of service",
      sql: "SELECT number FROM room WHERE type = 'double' AND out_of_service = 0 ORDER BY rate_cents LIMIT 1",
    },
    {
      q: "extras nobody ordered",
      sql: "SELECT name FROM extra WHERE id NOT IN (SELECT extra_id FROM booking_extra)",
    },
    { q: "Which rooms allow dogs?", mustRefuse: true },
    { q: "Which guests complained about the noise?", mustRefuse: true },
  ],
};
