// A lending library: a loan without a day of return is still out, and a member may be suspended for a while.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const townLibrary: EverydaySchema = {
  name: "town-library",
  tables: ["authors", "books", "members", "loans"],
  statements: statementsOf(`
CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, born_year INTEGER);
CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author_id INTEGER NOT NULL REFERENCES authors(id), genre TEXT, published_on TEXT, pages INTEGER, copies INTEGER NOT NULL);
CREATE TABLE members (id INTEGER PRIMARY KEY, name TEXT NOT NULL, joined_on TEXT NOT NULL, email TEXT, suspended_until TEXT);
CREATE TABLE loans (id INTEGER PRIMARY KEY, book_id INTEGER NOT NULL REFERENCES books(id), member_id INTEGER NOT NULL REFERENCES members(id), loaned_on TEXT NOT NULL, due_on TEXT NOT NULL, returned_on TEXT, fine_cents INTEGER NOT NULL DEFAULT 0);
INSERT INTO authors VALUES (1,'Ines Calder','Portugal',1951),(2,'Jonas Wirth','Germany',1978),(3,'Keiko Mori','Japan',1969),(4,'Liam Byrne','Ireland',1985),(5,'Mira Das','India',1990);
INSERT INTO books VALUES (1,'The Salt Road',1,'Novel','1994-05-02',320,3),(2,'Winter Maps',2,'Travel','2011-10-10',210,1),(3,'Quiet Engines',3,'Science','2018-03-15',412,2),(4,'Paper Boats',1,'Poetry','2001-01-20',96,1),(5,'Night Bus',4,'Crime','2025-12-05',288,4),(6,'Tide Tables',3,'Novel','2026-02-09',350,2),(7,'Stone Soup',4,'Cooking','2015-07-07',180,1),(8,'Long Division',2,'Crime','2019-09-30',510,1);
INSERT INTO members VALUES (1,'Ana Petrov','2024-01-10','ana@example.com',NULL),(2,'Bo Jensen','2024-06-01',NULL,NULL),(3,'Cleo Martin','2025-03-03','cleo@example.com','2026-04-30'),(4,'Dov Levi','2025-09-21','dov@example.com',NULL),(5,'Eve Stone','2026-02-15','eve@example.com',NULL),(6,'Finn Hall','2026-03-01',NULL,NULL);
INSERT INTO loans VALUES (1,1,1,'2025-11-03','2025-11-24','2025-11-20',0),(2,5,2,'2025-12-12','2026-01-02','2026-01-10',160),(3,3,3,'2026-01-08','2026-01-29',NULL,0),(4,6,1,'2026-02-11','2026-03-04','2026-03-01',0),(5,5,4,'2026-02-20','2026-03-13',NULL,0),(6,8,2,'2026-02-24','2026-03-17','2026-03-16',0),(7,2,3,'2026-02-27','2026-03-20',NULL,0),(8,5,5,'2026-03-05','2026-03-26',NULL,0),(9,1,1,'2026-03-09','2026-03-30',NULL,0),(10,6,4,'2026-03-17','2026-04-07',NULL,0),(11,4,2,'2025-12-28','2026-01-18','2026-02-01',280);
`),
  descriptions: [
    {
      table: "loans",
      description: "A copy that a member has borrowed",
      columns: [
        { column: "due_on", description: "Last day on which it may come back" },
        {
          column: "returned_on",
          description: "Day on which it came back; empty while the book is still out",
        },
        { column: "fine_cents", description: "Fine for being late, in euro cents" },
      ],
    },
    {
      table: "members",
      columns: [{
        column: "suspended_until",
        description: "Day until which the member may not borrow; empty when not suspended",
      }],
    },
  ],
  questions: [
    {
      q: "Which books were loaned last month?",
      sql:
        "SELECT DISTINCT b.title FROM loans l JOIN books b ON b.id = l.book_id WHERE l.loaned_on >= '2026-02-01' AND l.loaned_on < '2026-03-01'",
    },
    {
      q: "How many loans have been returned?",
      sql: "SELECT count(*) FROM loans WHERE returned_on IS NOT NULL",
    },
    {
      q: "Who still has a book out?",
      sql:
        "SELECT DISTINCT m.name FROM loans l JOIN members m ON m.id = l.member_id WHERE l.returned_on IS NULL",
    },
    {
      q: "Which loans are overdue?",
      sql: "SELECT id FROM loans WHERE returned_on IS NULL AND due_on < '2026-03-18'",
    },
    {
      q: "Which books has nobody ever borrowed?",
      sql: "SELECT title FROM books WHERE id NOT IN (SELECT book_id FROM loans)",
    },
    {
      q: "show me the titles by Keiko Mori",
      sql: "SELECT title FROM books WHERE author_id = 3",
    },
    {
      q: "Which authors are from Japan or Ireland?",
      sql: "SELECT name FROM authors WHERE country IN ('Japan','Ireland')",
    },
    { q: "Which books have more than 300 pages?", sql: "SELECT title FROM books WHERE pages > 300" },
    { q: "What is the shortest book we have?", sql: "SELECT title FROM books ORDER BY pages LIMIT 1" },
    {
      q: "How many members joined this year?",
      sql: "SELECT count(*) FROM members WHERE joined_on >= '2026-01-01'",
    },
    { q: "suspended members", sql: "SELECT name FROM members WHERE suspended_until IS NOT NULL" },
    {
      q: "total fines",
      sql: ["SELECT sum(fine_cents) FROM loans", "SELECT sum(fine_cents) / 100.0 FROM loans"],
    },
    {
      q: "loans due this week",
      sql: "SELECT id FROM loans WHERE due_on >= '2026-03-16' AND due_on < '2026-03-23'",
    },
    {
      q: "loans per member",
      sql: [
        "SELECT m.name, count(*) FROM loans l JOIN members m ON m.id = l.member_id GROUP BY m.id",
        "SELECT m.name, count(l.id) FROM members m LEFT JOIN loans l ON m.id = l.member_id GROUP BY m.id",
      ],
    },
    {
      q: "crime books published before 2020",
      sql: "SELECT title FROM books WHERE genre = 'Crime' AND published_on < '2020-01-01'",
    },
    { q: "books that are not novels", sql: "SELECT title FROM books WHERE genre <> 'Novel'" },
    {
      q: "most borrowed book",
      sql:
        "SELECT b.title FROM loans l JOIN books b ON b.id = l.book_id GROUP BY b.id ORDER BY count(*) DESC LIMIT 1",
    },
    { q: "number of members without email", sql: "SELECT count(*) FROM members WHERE email IS NULL" },
    { q: "Which books are available as audiobooks?", mustRefuse: true },
    { q: "Who reserved Night Bus?", mustRefuse: true },
  ],
};
