// Sensors at sites: moments in Unix seconds, percentages, degrees, alerts with two dates that may be missing.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const sensors: EverydaySchema = {
  name: "sensors",
  tables: ["sites", "devices", "readings", "alerts"],
  statements: statementsOf(`
CREATE TABLE sites (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL, opened_on TEXT NOT NULL);
CREATE TABLE devices (id INTEGER PRIMARY KEY, serial TEXT NOT NULL UNIQUE, site_id INTEGER NOT NULL REFERENCES sites(id), model TEXT NOT NULL, installed_on TEXT NOT NULL, last_seen_at INTEGER, retired_on TEXT, battery_pct INTEGER NOT NULL);
CREATE TABLE readings (id INTEGER PRIMARY KEY, device_id INTEGER NOT NULL REFERENCES devices(id), taken_at INTEGER NOT NULL, temperature_c REAL NOT NULL, humidity_pct REAL);
CREATE TABLE alerts (id INTEGER PRIMARY KEY, device_id INTEGER NOT NULL REFERENCES devices(id), level TEXT NOT NULL CHECK (level IN ('info','warning','critical')), raised_at INTEGER NOT NULL, acknowledged_at INTEGER, resolved_at INTEGER, message TEXT NOT NULL);
INSERT INTO sites VALUES (1,'Plant A','Poland','2018-05-01'),(2,'Plant B','Spain','2021-03-01'),(3,'Cold Store','Norway','2023-04-01'),(4,'Annex','Spain','2026-01-15');
INSERT INTO devices VALUES (1,'SN-100',1,'T1','2024-01-10',unixepoch('2026-03-18 09:58:00'),NULL,88),(2,'SN-101',1,'T1','2024-01-10',unixepoch('2026-03-16 22:00:00'),NULL,12),(3,'SN-102',2,'H2','2025-02-01',unixepoch('2026-03-18 09:30:00'),NULL,54),(4,'SN-103',3,'T1','2025-09-09',unixepoch('2026-03-18 09:59:00'),NULL,9),(5,'SN-104',3,'H2','2023-05-05',unixepoch('2025-11-01 12:00:00'),'2025-11-02',0),(6,'SN-105',2,'P3','2026-02-14',NULL,NULL,100);
INSERT INTO readings VALUES (1,1,unixepoch('2026-03-17 08:00:00'),21.5,40),(2,1,unixepoch('2026-03-18 08:00:00'),23.0,42),(3,2,unixepoch('2026-03-16 21:00:00'),31.2,55),(4,3,unixepoch('2026-03-18 07:30:00'),19.0,71),(5,4,unixepoch('2026-03-18 09:00:00'),-18.4,30),(6,4,unixepoch('2026-03-17 09:00:00'),-4.0,33),(7,5,unixepoch('2025-10-30 10:00:00'),-20.1,28),(8,3,unixepoch('2026-02-10 12:00:00'),17.5,65);
INSERT INTO alerts VALUES (1,2,'warning',unixepoch('2026-03-16 21:05:00'),unixepoch('2026-03-16 21:30:00'),NULL,'High temperature'),(2,4,'critical',unixepoch('2026-03-17 09:01:00'),unixepoch('2026-03-17 09:10:00'),unixepoch('2026-03-17 11:00:00'),'Freezer too warm'),(3,4,'warning',unixepoch('2026-03-18 06:00:00'),NULL,NULL,'Battery low'),(4,2,'critical',unixepoch('2026-03-17 00:10:00'),NULL,NULL,'Device offline'),(5,1,'info',unixepoch('2026-02-20 10:00:00'),NULL,unixepoch('2026-02-20 10:05:00'),'Firmware updated'),(6,5,'critical',unixepoch('2025-11-01 12:00:00'),unixepoch('2025-11-01 13:00:00'),unixepoch('2025-11-02 09:00:00'),'Sensor failed');
`),
  descriptions: [
    {
      table: "devices",
      columns: [
        { column: "serial", description: "Serial number, by which people know the device" },
        { column: "last_seen_at", description: "When it was seen last, Unix seconds; empty if never" },
        { column: "retired_on", description: "Day since which it is retired; empty while active" },
      ],
    },
    {
      table: "readings",
      columns: [
        { column: "taken_at", description: "When, in Unix seconds" },
        { column: "temperature_c", description: "Temperature in degrees Celsius" },
      ],
    },
    {
      table: "alerts",
      columns: [
        { column: "raised_at", description: "When it was raised, Unix seconds" },
        {
          column: "acknowledged_at",
          description: "When somebody acknowledged it, Unix seconds; empty until then",
        },
        { column: "resolved_at", description: "When it was resolved, Unix seconds; empty while unresolved" },
      ],
    },
  ],
  questions: [
    {
      q: "Which devices have a battery below 20%?",
      sql: "SELECT serial FROM devices WHERE battery_pct < 20",
    },
    { q: "Which devices are retired?", sql: "SELECT serial FROM devices WHERE retired_on IS NOT NULL" },
    { q: "Which alerts are still unresolved?", sql: "SELECT id FROM alerts WHERE resolved_at IS NULL" },
    {
      q: "Are there critical alerts nobody has acknowledged?",
      sql: "SELECT id FROM alerts WHERE level = 'critical' AND acknowledged_at IS NULL",
    },
    {
      q: "What was the highest temperature in Plant A?",
      sql:
        "SELECT max(r.temperature_c) FROM readings r JOIN devices d ON d.id = r.device_id WHERE d.site_id = 1",
    },
    {
      q: "Which devices have never been seen?",
      sql: "SELECT serial FROM devices WHERE last_seen_at IS NULL",
    },
    {
      q: "How many alerts were raised yesterday?",
      sql:
        "SELECT count(*) FROM alerts WHERE raised_at >= unixepoch('2026-03-17') AND raised_at < unixepoch('2026-03-18')",
    },
    {
      q: "Which devices haven't sent any readings?",
      sql: "SELECT serial FROM devices WHERE id NOT IN (SELECT device_id FROM readings)",
    },
    {
      q: "At which site is SN-103?",
      sql: "SELECT s.name FROM devices d JOIN sites s ON s.id = d.site_id WHERE d.serial = 'SN-103'",
    },
    { q: "Show readings below 0 °C", sql: "SELECT id FROM readings WHERE temperature_c < 0" },
    {
      q: "devices per site",
      sql: [
        "SELECT s.name, count(*) FROM devices d JOIN sites s ON s.id = d.site_id GROUP BY s.id",
        "SELECT s.name, count(d.id) FROM sites s LEFT JOIN devices d ON s.id = d.site_id GROUP BY s.id",
      ],
    },
    {
      q: "average temperature by device",
      sql:
        "SELECT d.serial, avg(r.temperature_c) FROM readings r JOIN devices d ON d.id = r.device_id GROUP BY d.id",
    },
    { q: "number of alerts by level", sql: "SELECT level, count(*) FROM alerts GROUP BY level" },
    {
      q: "sites without devices",
      sql: "SELECT name FROM sites WHERE id NOT IN (SELECT site_id FROM devices)",
    },
    {
      q: "alerts raised in the last 24 hours",
      sql: "SELECT id FROM alerts WHERE raised_at >= unixepoch('2026-03-17 10:00:00')",
    },
    {
      q: "active devices in Spain",
      sql:
        "SELECT d.serial FROM devices d JOIN sites s ON s.id = d.site_id WHERE s.country = 'Spain' AND d.retired_on IS NULL",
    },
    {
      q: "latest reading of SN-100",
      sql: "SELECT id, temperature_c FROM readings WHERE device_id = 1 ORDER BY taken_at DESC LIMIT 1",
    },
    { q: "readings with humidity above 60 percent", sql: "SELECT id FROM readings WHERE humidity_pct > 60" },
    { q: "Which devices need a firmware update?", mustRefuse: true },
    { q: "How much energy did Plant B use last month?", mustRefuse: true },
  ],
};
