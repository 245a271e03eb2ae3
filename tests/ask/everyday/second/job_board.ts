// A job board: salaries in dollars a year, candidates who know skills and refer each other, jobs that are filled or deleted.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const jobBoard: EverydaySchema = {
  name: "job-board",
  tables: ["companies", "jobs", "candidates", "skills", "candidate_skills", "applications"],
  statements: statementsOf(`
CREATE TABLE companies (id INTEGER PRIMARY KEY, name TEXT NOT NULL, industry TEXT NOT NULL, employees INTEGER, hq_city TEXT);
CREATE TABLE jobs (id INTEGER PRIMARY KEY, company_id INTEGER NOT NULL REFERENCES companies(id), title TEXT NOT NULL, city TEXT, is_remote INTEGER NOT NULL DEFAULT 0, salary_usd INTEGER, posted_at TEXT NOT NULL, closes_on TEXT NOT NULL, filled_at TEXT);
CREATE TABLE candidates (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, years_experience INTEGER NOT NULL, willing_to_relocate INTEGER NOT NULL DEFAULT 0, referred_by_id INTEGER REFERENCES candidates(id));
CREATE TABLE skills (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE candidate_skills (candidate_id INTEGER NOT NULL REFERENCES candidates(id), skill_id INTEGER NOT NULL REFERENCES skills(id), level INTEGER NOT NULL, PRIMARY KEY (candidate_id, skill_id));
CREATE TABLE applications (id INTEGER PRIMARY KEY, job_id INTEGER NOT NULL REFERENCES jobs(id), candidate_id INTEGER NOT NULL REFERENCES candidates(id), applied_at TEXT NOT NULL, stage TEXT NOT NULL);
INSERT INTO companies VALUES (1,'Northwind','logistics',820,'Oslo'),(2,'Pixel Forge','games',45,'Berlin'),(3,'Greenfield','energy',1500,'Madrid'),(4,'Tiny Bakery','food',6,'Berlin');
INSERT INTO jobs VALUES (1,1,'Data Engineer','Oslo',0,105000,'2026-02-20 09:00:00','2026-03-20',NULL),(2,2,'Designer','Berlin',0,68000,'2026-01-10 09:00:00','2026-02-10','2026-02-15 12:00:00'),(3,2,'Backend Developer',NULL,1,92000,'2026-03-12 09:00:00','2026-04-12',NULL),(4,3,'Project Manager','Madrid',0,100000,'2026-03-01 09:00:00','2026-03-31',NULL),(5,1,'Support Agent',NULL,1,41000,'2026-03-16 09:00:00','2026-03-22',NULL),(6,3,'Welder','Madrid',0,NULL,'2025-11-11 09:00:00','2025-12-11','2025-12-01 10:00:00');
INSERT INTO candidates VALUES (1,'Tomas Lind','Oslo',12,0,NULL),(2,'Wanda Kim','Berlin',5,1,1),(3,'Xavier Roux','Paris',2,1,1),(4,'Yara Haddad','Berlin',7,0,2),(5,'Zeno Blake','Madrid',1,0,NULL);
INSERT INTO skills VALUES (1,'Python'),(2,'SQL'),(3,'Figma'),(4,'Welding');
INSERT INTO candidate_skills VALUES (1,1,5),(1,2,4),(2,3,5),(3,1,2),(4,1,3),(4,2,5),(5,2,1);
INSERT INTO applications VALUES (1,1,1,'2026-02-25 10:00:00','interview'),(2,1,4,'2026-03-02 11:00:00','rejected'),(3,2,2,'2026-01-15 08:00:00','hired'),(4,3,3,'2026-03-13 17:00:00','applied'),(5,3,4,'2026-03-15 09:30:00','interview'),(6,5,5,'2026-03-17 21:00:00','rejected'),(7,3,1,'2026-03-18 08:00:00','applied');
`),
  descriptions: [
    {
      table: "jobs",
      columns: [
        { column: "salary_usd", description: "What the job pays a year, in US dollars" },
        { column: "closes_on", description: "Last day to apply" },
        { column: "filled_at", description: "When somebody was hired for it; empty while it is vacant" },
      ],
    },
    {
      table: "applications",
      columns: [{ column: "stage", description: "applied, interview, hired or rejected" }],
    },
    {
      table: "candidate_skills",
      description: "A skill that a candidate knows",
      columns: [{ column: "level", description: "From 1 (beginner) to 5 (expert)" }],
    },
  ],
  questions: [
    { q: "remote jobs", sql: "SELECT title FROM jobs WHERE is_remote = 1" },
    { q: "jobs that pay at least $100k", sql: "SELECT title FROM jobs WHERE salary_usd >= 100000" },
    {
      q: "candidates who know both Python and SQL",
      sql:
        "SELECT name FROM candidates WHERE id IN (SELECT candidate_id FROM candidate_skills WHERE skill_id = 1) AND id IN " +
        "(SELECT candidate_id FROM candidate_skills WHERE skill_id = 2)",
    },
    {
      q: "Who applied for the Data Engineer job?",
      sql: "SELECT c.name FROM applications a JOIN candidates c ON c.id = a.candidate_id WHERE a.job_id = 1",
    },
    {
      q: "How many applications are there per stage?",
      sql: "SELECT stage, count(*) FROM applications GROUP BY stage",
    },
    {
      q: "companies with more than 500 employees",
      sql: "SELECT name FROM companies WHERE employees > 500",
    },
    {
      q: "candidates with 5+ years of experience",
      sql: "SELECT name FROM candidates WHERE years_experience >= 5",
    },
    { q: "Who was referred by Tomas Lind?", sql: "SELECT name FROM candidates WHERE referred_by_id = 1" },
    {
      q: "jobs closing this week",
      sql: "SELECT title FROM jobs WHERE closes_on BETWEEN '2026-03-16' AND '2026-03-22'",
    },
    {
      q: "rejected applications for remote jobs",
      sql:
        "SELECT a.id FROM applications a JOIN jobs j ON j.id = a.job_id WHERE a.stage = 'rejected' AND j.is_remote = 1",
    },
    {
      q: "jobs nobody applied to",
      sql: "SELECT title FROM jobs WHERE id NOT IN (SELECT job_id FROM applications)",
    },
    {
      q: "candiates from Berlin who aren't willing to relocate",
      sql: "SELECT name FROM candidates WHERE city = 'Berlin' AND willing_to_relocate = 0",
    },
    {
      q: "how many applications did we get in the last 7 days",
      sql: "SELECT count(*) FROM applications WHERE applied_at >= '2026-03-11'",
    },
    { q: "Who is the best candidate for the Designer job?", mustRefuse: true },
    { q: "jobs with a four day week", mustRefuse: true },
  ],
};
