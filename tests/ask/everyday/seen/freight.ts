// Freight between warehouses: two references to one table, grams and metres, a driver who may not be known yet.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const freight: EverydaySchema = {
  name: "freight",
  tables: ["warehouses", "drivers", "shipments"],
  statements: statementsOf(`
CREATE TABLE warehouses (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, capacity_m3 INTEGER NOT NULL, closed_on TEXT);
CREATE TABLE drivers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, phone TEXT, licence_class TEXT NOT NULL, hired_on TEXT NOT NULL);
CREATE TABLE shipments (id INTEGER PRIMARY KEY, from_warehouse_id INTEGER NOT NULL REFERENCES warehouses(id), to_warehouse_id INTEGER NOT NULL REFERENCES warehouses(id), driver_id INTEGER REFERENCES drivers(id), weight_grams INTEGER NOT NULL, distance_m INTEGER NOT NULL, dispatched_at TEXT, arrived_at TEXT, priority TEXT NOT NULL CHECK (priority IN ('low','normal','high')), damaged INTEGER NOT NULL DEFAULT 0);
INSERT INTO warehouses VALUES (1,'North Hub','Bremen',12000,NULL),(2,'South Hub','Munich',9000,NULL),(3,'River Depot','Basel',4000,'2025-10-31'),(4,'Harbour Depot','Rotterdam',15000,NULL),(5,'Hill Store','Graz',2500,NULL);
INSERT INTO drivers VALUES (1,'Lena Fuchs','0151 1','CE','2019-04-01'),(2,'Marko Ilic',NULL,'C','2022-09-15'),(3,'Nils Berg','0153 3','B','2025-11-20'),(4,'Olga Petrenko','0154 4','CE','2026-01-07');
INSERT INTO shipments VALUES (1,1,2,1,850000,780000,'2026-01-14 06:00:00','2026-01-14 15:20:00','normal',0),(2,2,1,2,120000,780000,'2026-02-02 07:00:00','2026-02-03 09:00:00','high',0),(3,1,4,1,2400000,360000,'2026-02-11 05:30:00','2026-02-11 11:45:00','low',1),(4,4,2,3,45000,830000,'2026-02-23 08:00:00','2026-02-24 18:30:00','high',0),(5,2,1,2,990000,780000,'2025-10-20 06:15:00','2025-10-21 08:00:00','normal',1),(6,4,1,4,310000,360000,'2026-03-09 07:40:00','2026-03-09 13:00:00','normal',0),(7,1,2,1,75000,780000,'2026-03-16 06:10:00',NULL,'high',0),(8,2,4,2,640000,830000,'2026-03-17 05:00:00',NULL,'normal',0),(9,1,4,NULL,15000,360000,NULL,NULL,'low',0),(10,4,3,4,500000,690000,'2025-09-02 06:00:00','2025-09-03 07:00:00','low',0);
`),
  descriptions: [
    {
      table: "shipments",
      description: "Goods on the way from one warehouse to another",
      columns: [
        { column: "dispatched_at", description: "When it left; empty while it waits" },
        { column: "arrived_at", description: "When it arrived; empty until then" },
        { column: "distance_m", description: "Length of the route in metres" },
        { column: "damaged", description: "1 when goods were broken on arrival" },
      ],
    },
    {
      table: "warehouses",
      columns: [{ column: "closed_on", description: "Day since which it is closed; empty while it is open" }],
    },
  ],
  questions: [
    {
      q: "Which shipments go from North Hub to South Hub?",
      sql: "SELECT id FROM shipments WHERE from_warehouse_id = 1 AND to_warehouse_id = 2",
    },
    {
      q: "Which shipments are going to Harbour Depot?",
      sql: "SELECT id FROM shipments WHERE to_warehouse_id = 4",
    },
    {
      q: "Which shipments were dispatched from North Hub this week?",
      sql:
        "SELECT id FROM shipments WHERE from_warehouse_id = 1 AND dispatched_at >= '2026-03-16' AND dispatched_at < '2026-03-23'",
    },
    { q: "Which shipments haven't arrived?", sql: "SELECT id FROM shipments WHERE arrived_at IS NULL" },
    {
      q: "How many shipments are heavier than 500 kg?",
      sql: "SELECT count(*) FROM shipments WHERE weight_grams > 500000",
    },
    {
      q: "which shipments travel more than 700 km",
      sql: "SELECT id FROM shipments WHERE distance_m > 700000",
    },
    {
      q: "What's the total weight of shipments to Munich?",
      sql: [
        "SELECT sum(weight_grams) FROM shipments WHERE to_warehouse_id = 2",
        "SELECT sum(weight_grams) / 1000.0 FROM shipments WHERE to_warehouse_id = 2",
      ],
    },
    { q: "Which warehouses are closed?", sql: "SELECT name FROM warehouses WHERE closed_on IS NOT NULL" },
    { q: "and which ones are open?", mustRefuse: true },
    { q: "Which of our drivers don't have a phone?", sql: "SELECT name FROM drivers WHERE phone IS NULL" },
    { q: "shipments without a driver", sql: "SELECT id FROM shipments WHERE driver_id IS NULL" },
    { q: "damaged shipments", sql: "SELECT id FROM shipments WHERE damaged = 1" },
    {
      q: "undamaged shipments with high priority",
      sql: "SELECT id FROM shipments WHERE damaged = 0 AND priority = 'high'",
    },
    {
      q: "warehouses that have never received a shipment",
      sql: "SELECT name FROM warehouses WHERE id NOT IN (SELECT to_warehouse_id FROM shipments)",
    },
    { q: "drivers hired after 2024", sql: "SELECT name FROM drivers WHERE hired_on >= '2025-01-01'" },
    {
      q: "number of shipments by driver",
      sql: [
        "SELECT d.name, count(*) FROM shipments s JOIN drivers d ON d.id = s.driver_id GROUP BY d.id",
        "SELECT d.name, count(*) FROM shipments s LEFT JOIN drivers d ON d.id = s.driver_id GROUP BY d.id",
      ],
    },
    { q: "heaviest shipment", sql: "SELECT id FROM shipments ORDER BY weight_grams DESC LIMIT 1" },
    {
      q: "average distance in km of high priority shipments",
      sql: "SELECT avg(distance_m) / 1000.0 FROM shipments WHERE priority = 'high'",
    },
    { q: "Which shipments need refrigeration?", mustRefuse: true },
    { q: "cost of each shipment", mustRefuse: true },
  ],
};
