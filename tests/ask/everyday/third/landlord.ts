// Flats to let, by short names: rents a month in cents, leases that end, payments that are late, repairs that are open.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const landlord: EverydaySchema = {
  name: "landlord",
  tables: ["bldg", "flat", "tenant", "lease", "pmt", "repair"],
  statements: statementsOf(`
CREATE TABLE bldg (bldg_id INTEGER PRIMARY KEY, street TEXT NOT NULL, city TEXT NOT NULL, has_lift INTEGER NOT NULL);
CREATE TABLE flat (flat_id INTEGER PRIMARY KEY, bldg_id INTEGER NOT NULL REFERENCES bldg(bldg_id), door TEXT NOT NULL, floor INTEGER NOT NULL, rooms INTEGER NOT NULL, area_m2 REAL NOT NULL, rent_cents INTEGER NOT NULL);
CREATE TABLE tenant (tenant_id INTEGER PRIMARY KEY, fname TEXT NOT NULL, lname TEXT NOT NULL, phone TEXT, has_pets INTEGER NOT NULL);
CREATE TABLE lease (lease_id INTEGER PRIMARY KEY, flat_id INTEGER NOT NULL REFERENCES flat(flat_id), tenant_id INTEGER NOT NULL REFERENCES tenant(tenant_id), start_dt TEXT NOT NULL, end_dt TEXT, deposit_cents INTEGER NOT NULL);
CREATE TABLE pmt (pmt_id INTEGER PRIMARY KEY, lease_id INTEGER NOT NULL REFERENCES lease(lease_id), amt_cents INTEGER NOT NULL, due_dt TEXT NOT NULL, paid_dt TEXT);
CREATE TABLE repair (repair_id INTEGER PRIMARY KEY, flat_id INTEGER NOT NULL REFERENCES flat(flat_id), what TEXT NOT NULL, reported_dt TEXT NOT NULL, fixed_dt TEXT, cost_cents INTEGER, urgent INTEGER NOT NULL DEFAULT 0);
INSERT INTO bldg VALUES (1,'Elm Street 4','Graz',1),(2,'Canal Road 18','Linz',0);
INSERT INTO flat VALUES (1,1,'1A',1,2,54,78000),(2,1,'3C',3,3,81.5,112000),(3,2,'2B',2,1,33,51000),(4,2,'4A',4,4,118,149000),(5,2,'1B',1,2,60,69000);
INSERT INTO tenant VALUES (1,'Ingrid','Falk','0660-1',0),(2,'Javier','Soto',NULL,1),(3,'Kerstin','Maier','0660-3',1),(4,'Luka','Novak','0660-4',0);
INSERT INTO lease VALUES (1,1,1,'2019-04-01',NULL,156000),(2,2,2,'2024-09-01','2026-08-31',224000),(3,3,3,'2022-01-01','2025-12-31',102000),(4,4,3,'2026-01-01',NULL,298000);
INSERT INTO pmt VALUES (1,1,78000,'2026-02-01','2026-02-01'),(2,1,78000,'2026-03-01','2026-03-04'),(3,2,112000,'2026-02-01','2026-02-15'),(4,2,112000,'2026-03-01',NULL),(5,4,149000,'2026-03-01',NULL),(6,4,149000,'2026-04-01',NULL);
INSERT INTO repair VALUES (1,1,'boiler','2026-01-10','2026-01-12',34000,1),(2,2,'window','2026-02-20',NULL,NULL,0),(3,4,'leak','2026-03-16',NULL,NULL,1),(4,3,'lock','2025-06-01','2025-06-01',9500,0),(5,1,'stove','2026-03-03','2026-03-10',21000,0);
`),
  descriptions: [
    { table: "bldg", description: "A building (house)" },
    {
      table: "flat",
      description: "A flat (apartment) in a building",
      columns: [{ column: "rent_cents", description: "Rent a month, in euro cents" }, {
        column: "area_m2",
        description: "Size",
      }],
    },
    {
      table: "lease",
      columns: [{ column: "end_dt", description: "Day on which it ends; empty when it has no end" }, {
        column: "deposit_cents",
        description: "In euro cents",
      }],
    },
    {
      table: "pmt",
      description: "A payment of rent",
      columns: [{ column: "amt_cents", description: "In euro cents" }, {
        column: "paid_dt",
        description: "Day on which it was paid; empty until then",
      }],
    },
    {
      table: "repair",
      columns: [{ column: "fixed_dt", description: "Day on which it was repaired; empty while it is open" }, {
        column: "urgent",
        description: "1 when urgent",
      }],
    },
  ],
  questions: [
    { q: "flats in Linz", sql: "SELECT door FROM flat WHERE bldg_id = 2" },
    { q: "apartments with at least 3 rooms", sql: "SELECT door FROM flat WHERE rooms >= 3" },
    { q: "flats bigger than 60 m²", sql: "SELECT door FROM flat WHERE area_m2 > 60" },
    { q: "flats under 800 euros a month", sql: "SELECT door FROM flat WHERE rent_cents < 80000" },
    { q: "payments overdue", sql: "SELECT pmt_id FROM pmt WHERE due_dt < '2026-03-18' AND paid_dt IS NULL" },
    {
      q: "open repairs that are urgent",
      sql: "SELECT what FROM repair WHERE fixed_dt IS NULL AND urgent = 1",
    },
    { q: "Which tenants have pets?", sql: "SELECT fname, lname FROM tenant WHERE has_pets = 1" },
    {
      q: "who has never had a lease?",
      sql: "SELECT fname, lname FROM tenant WHERE tenant_id NOT IN (SELECT tenant_id FROM lease)",
    },
    {
      q: "total repair costs per flat",
      sql: [
        "SELECT f.door, sum(r.cost_cents) FROM repair r JOIN flat f ON f.flat_id = r.flat_id GROUP BY f.flat_id",
        "SELECT f.flat_id, sum(r.cost_cents) FROM repair r JOIN flat f ON f.flat_id = r.flat_id GROUP BY f.flat_id",
        "SELECT f.flat_id, sum(r.cost_cents) FROM flat f JOIN repair r ON f.flat_id = r.flat_id GROUP BY f.flat_id HAVING sum(r.cost_cents) IS NOT NULL",
      ],
    },
    { q: "leases ending this year", sql: "SELECT lease_id FROM lease WHERE end_dt LIKE '2026-%'" },
    { q: "flats on the 1st floor", sql: "SELECT door FROM flat WHERE floor = 1" },
    {
      q: "avg rent by city",
      sql: [
        "SELECT b.city, avg(f.rent_cents) FROM flat f JOIN bldg b ON b.bldg_id = f.bldg_id GROUP BY b.city",
      ],
    },
    { q: "most expensive repair", sql: "SELECT what FROM repair ORDER BY cost_cents DESC LIMIT 1" },
    { q: "Which tenants are noisy?", mustRefuse: true },
    { q: "flats with a balcony", mustRefuse: true },
  ],
};
