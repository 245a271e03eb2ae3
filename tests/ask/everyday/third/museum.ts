// A museum: works by artists, lent to others and shown in rooms, years as numbers, insurance in whole dollars.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const museum: EverydaySchema = {
  name: "museum",
  tables: ["artist", "work", "loan", "exhibition", "exhibit"],
  statements: statementsOf(`
CREATE TABLE artist (artist_id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, birth_year INTEGER, death_year INTEGER, nationality TEXT NOT NULL);
CREATE TABLE work (work_id INTEGER PRIMARY KEY, title TEXT NOT NULL, artist_id INTEGER REFERENCES artist(artist_id), year_made INTEGER, medium TEXT NOT NULL, height_cm REAL, insured_usd REAL, acquired_on TEXT NOT NULL, on_display INTEGER NOT NULL DEFAULT 0);
CREATE TABLE loan (loan_id INTEGER PRIMARY KEY, work_id INTEGER NOT NULL REFERENCES work(work_id), borrower TEXT NOT NULL, lent_on TEXT NOT NULL, due_on TEXT NOT NULL, returned_on TEXT);
CREATE TABLE exhibition (exhibition_id INTEGER PRIMARY KEY, name TEXT NOT NULL, opens_on TEXT NOT NULL, closes_on TEXT NOT NULL, visitors INTEGER);
CREATE TABLE exhibit (exhibition_id INTEGER NOT NULL REFERENCES exhibition(exhibition_id), work_id INTEGER NOT NULL REFERENCES work(work_id), PRIMARY KEY (exhibition_id, work_id));
INSERT INTO artist VALUES (1,'Elsa Brandt',1880,1952,'German'),(2,'Jun Mori',1931,NULL,'Japanese'),(3,'Pierre Laval',1844,1911,'French'),(4,'Rosa Vidal',1967,NULL,'Spanish');
INSERT INTO work VALUES (1,'Blue Window',1,1921,'oil',120,850000,'1960-05-05',1),(2,'Harbor at Dawn',3,1889,'oil',80,2400000,'1932-01-10',1),(3,'Stone Garden',2,1974,'sculpture',210,310000,'1999-09-09',0),(4,'Untitled',4,2011,'print',50,12000,'2025-04-01',0),(5,'Winter Road',3,1895,'watercolor',35,180000,'2026-02-14',0),(6,'Mask',NULL,NULL,'wood',40,NULL,'1987-07-07',1);
INSERT INTO loan VALUES (1,3,'City Gallery Oslo','2025-10-01','2026-03-01',NULL),(2,4,'Print House','2026-01-15','2026-06-15',NULL),(3,2,'Tate','2024-02-01','2024-08-01','2024-07-28'),(4,1,'Tate','2023-03-01','2023-09-01','2023-09-05');
INSERT INTO exhibition VALUES (1,'Light','2025-09-01','2025-12-31',41200),(2,'Paper','2026-02-01','2026-05-31',8900),(3,'Roads','2026-06-20','2026-10-01',NULL);
INSERT INTO exhibit VALUES (1,1),(1,2),(2,4),(2,5),(3,5),(3,2);
`),
  descriptions: [
    {
      table: "work",
      description: "A work of art (artwork), such as a painting",
      columns: [
        { column: "insured_usd", description: "Value for which it is insured, in US dollars" },
        { column: "acquired_on", description: "Day on which the museum acquired it" },
      ],
    },
    {
      table: "loan",
      columns: [
        { column: "borrower", description: "Museum that has borrowed the work" },
        { column: "returned_on", description: "Day on which it came back; empty while it is away" },
      ],
    },
  ],
  questions: [
    { q: "works by Pierre Laval", sql: "SELECT title FROM work WHERE artist_id = 3" },
    { q: "What is on display right now?", sql: "SELECT title FROM work WHERE on_display = 1" },
    {
      q: "oil paintings made before 1900",
      sql: "SELECT title FROM work WHERE medium = 'oil' AND year_made < 1900",
    },
    {
      q: "loans that are overdue",
      sql: "SELECT loan_id FROM loan WHERE due_on < '2026-03-18' AND returned_on IS NULL",
    },
    {
      q: "Which works have never been lent?",
      sql: "SELECT title FROM work WHERE work_id NOT IN (SELECT work_id FROM loan)",
    },
    {
      q: "works insured for over a million dollars",
      sql: "SELECT title FROM work WHERE insured_usd > 1000000",
    },
    { q: "who painted Blue Window?", sql: "SELECT full_name FROM artist WHERE artist_id = 1" },
    { q: "living artists", sql: "SELECT full_name FROM artist WHERE death_year IS NULL" },
    {
      q: "how many visitors did Light have?",
      sql: "SELECT visitors FROM exhibition WHERE exhibition_id = 1",
    },
    {
      q: "works in the exhibition Paper",
      sql: "SELECT w.title FROM work w JOIN exhibit e ON e.work_id = w.work_id WHERE e.exhibition_id = 2",
    },
    { q: "tallest work", sql: "SELECT title FROM work ORDER BY height_cm DESC LIMIT 1" },
    { q: "works without a known artist", sql: "SELECT title FROM work WHERE artist_id IS NULL" },
    {
      q: "number of works per nationality",
      sql:
        "SELECT a.nationality, count(*) FROM work w JOIN artist a ON a.artist_id = w.artist_id GROUP BY a.nationality",
    },
    { q: "Which works are forgeries?", mustRefuse: true },
    { q: "what is a ticket for Roads?", mustRefuse: true },
  ],
};
