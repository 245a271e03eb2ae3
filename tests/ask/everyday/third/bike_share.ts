// Bikes that are taken at one station and brought back to another: moments in Unix seconds, metres, money in cents.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const bikeShare: EverydaySchema = {
  name: "bike-share",
  tables: ["stations", "bikes", "riders", "rides"],
  statements: statementsOf(`
CREATE TABLE stations (id INTEGER PRIMARY KEY, name TEXT NOT NULL, district TEXT NOT NULL, docks INTEGER NOT NULL, closed_on TEXT);
CREATE TABLE bikes (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, battery_pct INTEGER, station_id INTEGER REFERENCES stations(id), broken INTEGER NOT NULL DEFAULT 0, bought_on TEXT NOT NULL);
CREATE TABLE riders (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, plan TEXT NOT NULL, signed_up_on TEXT NOT NULL, invited_by_id INTEGER REFERENCES riders(id));
CREATE TABLE rides (id INTEGER PRIMARY KEY, bike_id INTEGER NOT NULL REFERENCES bikes(id), rider_id INTEGER NOT NULL REFERENCES riders(id), start_station_id INTEGER NOT NULL REFERENCES stations(id), end_station_id INTEGER REFERENCES stations(id), started_at INTEGER NOT NULL, ended_at INTEGER, distance_m INTEGER, fare_cents INTEGER);
INSERT INTO stations VALUES (1,'Market Square','Center',20,NULL),(2,'River Park','West',12,NULL),(3,'University','North',30,NULL),(4,'Old Mill','West',8,'2026-01-31');
INSERT INTO bikes VALUES (1,'B-100','electric',80,1,0,'2024-05-01'),(2,'B-101','electric',15,2,0,'2024-05-01'),(3,'B-200','city',NULL,3,1,'2021-03-15'),(4,'B-201','city',NULL,NULL,0,'2025-06-10'),(5,'B-300','cargo',NULL,3,0,'2026-02-20');
INSERT INTO riders VALUES (1,'Amira Haas','amira@example.com','yearly','2024-06-01',NULL),(2,'Bruno Leite',NULL,'day','2026-03-10',1),(3,'Chen Wei','chen@example.com','yearly','2025-08-19',1),(4,'Dina Popa','dina@example.com','monthly','2026-01-05',3);
INSERT INTO rides VALUES (1,1,1,1,3,unixepoch('2026-02-10 08:00:00'),unixepoch('2026-02-10 08:20:00'),4200,150),(2,2,3,2,1,unixepoch('2026-03-17 17:30:00'),unixepoch('2026-03-17 17:45:00'),2500,120),(3,3,2,3,3,unixepoch('2026-03-12 12:00:00'),unixepoch('2026-03-12 13:30:00'),11000,480),(4,4,3,1,NULL,unixepoch('2026-03-18 09:30:00'),NULL,NULL,NULL),(5,1,3,3,2,unixepoch('2026-03-02 19:00:00'),unixepoch('2026-03-02 19:25:00'),5300,210);
`),
  descriptions: [
    {
      table: "rides",
      description: "A ride (trip) on a bike",
      columns: [
        { column: "started_at", description: "Unix seconds" },
        { column: "ended_at", description: "Unix seconds; empty while the bike is out" },
        { column: "distance_m", description: "How far it went, in metres" },
        { column: "fare_cents", description: "What the rider paid, in euro cents" },
      ],
    },
    {
      table: "bikes",
      columns: [
        { column: "battery_pct", description: "Charge of the battery; empty for bikes without one" },
        { column: "kind", description: "electric, city or cargo" },
      ],
    },
    {
      table: "stations",
      columns: [{ column: "closed_on", description: "Day on which it was closed for good" }],
    },
  ],
  questions: [
    {
      q: "electric bikes with less than 20% battery",
      sql: "SELECT code FROM bikes WHERE kind = 'electric' AND battery_pct < 20",
    },
    { q: "Which bikes are broken?", sql: "SELECT code FROM bikes WHERE broken = 1" },
    { q: "rides longer than 5 km", sql: "SELECT id FROM rides WHERE distance_m > 5000" },
    {
      q: "how many rides started at University?",
      sql: "SELECT count(*) FROM rides WHERE start_station_id = 3",
    },
    {
      q: "rides this month that cost more than 2 euros",
      sql: "SELECT id FROM rides WHERE started_at >= unixepoch('2026-03-01') AND fare_cents > 200",
    },
    { q: "Who invited Bruno Leite?", sql: "SELECT name FROM riders WHERE id = 1" },
    {
      q: "riders who have never taken a ride",
      sql: "SELECT name FROM riders WHERE id NOT IN (SELECT rider_id FROM rides)",
    },
    { q: "which station has the most docks", sql: "SELECT name FROM stations ORDER BY docks DESC LIMIT 1" },
    {
      q: "stations in the west that are still open",
      sql: "SELECT name FROM stations WHERE district = 'West' AND closed_on IS NULL",
    },
    {
      q: "total fares per rider, in euros",
      sql:
        "SELECT p.name, sum(r.fare_cents) / 100.0 FROM rides r JOIN riders p ON p.id = r.rider_id GROUP BY p.id",
    },
    { q: "number of bikes by kind", sql: "SELECT kind, count(*) FROM bikes GROUP BY kind" },
    {
      q: "who signed up in the last 2 weeks?",
      sql: "SELECT name FROM riders WHERE signed_up_on >= '2026-03-04'",
    },
    {
      q: "the three longest trips",
      sql: "SELECT id FROM rides ORDER BY distance_m DESC LIMIT 3",
      inOrderOf: 0,
    },
    { q: "bikes that were stolen", mustRefuse: true },
    { q: "How crowded will Market Square be tomorrow?", mustRefuse: true },
  ],
};
