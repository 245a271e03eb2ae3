// A depot whose staff refer to each other: who is above whom, and words that must not be taken for something near.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

const under = (id: number) => `SELECT name FROM staff WHERE manager_id = ${id}`;
const above = (key: string, id: number) =>
  `SELECT m.name FROM staff s JOIN staff m ON m.id = s.${key} WHERE s.id = ${id}`;

export const depot: EverydaySchema = {
  name: "depot",
  tables: ["staff", "vans", "trips"],
  statements: statementsOf(`
CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT NOT NULL, manager_id INTEGER REFERENCES staff(id), mentor_id INTEGER REFERENCES staff(id));
CREATE TABLE vans (id INTEGER PRIMARY KEY, plate TEXT NOT NULL, model_year INTEGER NOT NULL, retired_on TEXT, tow_bar INTEGER NOT NULL DEFAULT 0, doors INTEGER NOT NULL);
CREATE TABLE trips (id INTEGER PRIMARY KEY, van_id INTEGER NOT NULL REFERENCES vans(id), started_at INTEGER NOT NULL, distance_km REAL NOT NULL);
INSERT INTO staff VALUES (1,'Anna Berg',NULL,NULL),(2,'Ben Cole',1,3),(3,'Cem Dor',2,1),(4,'Dora Ek',2,1);
INSERT INTO vans VALUES (1,'VV-1',2019,NULL,1,4),(2,'VV-2',2015,NULL,0,5),(3,'VV-3',2017,'2025-12-12',0,5);
INSERT INTO trips VALUES (1,1,1770000000,30.5),(2,2,1772000000,12);
`),
  descriptions: [{ table: "vans", description: "A vehicle (truck) of the depot" }],
  questions: [
    { q: "Who is Ben Cole's manager?", sql: above("manager_id", 2) },
    { q: "manager of Cem Dor", sql: above("manager_id", 3) },
    { q: "who manages Ben Cole?", sql: above("manager_id", 2) },
    { q: "Ben Cole's mentor", sql: above("mentor_id", 2) },
    { q: "staff managed by Ben Cole", sql: under(2) },
    { q: "people Anna Berg mentors", sql: "SELECT name FROM staff WHERE mentor_id = 1" },
    { q: "staff without a manager", sql: "SELECT name FROM staff WHERE manager_id IS NULL" },
    { q: "who has the same manager as Ben Cole", mustRefuse: true },
    { q: "Ben Cole and his manager", mustRefuse: true },
    { q: "oldest van", sql: "SELECT plate FROM vans ORDER BY model_year LIMIT 1" },
    { q: "trucks with a tow bar", sql: "SELECT plate FROM vans WHERE tow_bar = 1" },
    { q: "vehicles with 5+ doors", sql: "SELECT plate FROM vans WHERE doors >= 5" },
    { q: "vans that never made a trip", sql: "SELECT plate FROM vans WHERE id = 3" },
    { q: "vns from 2015", mustRefuse: true },
  ],
};
