// A school: first and last names apart, courses that were dropped, absences in minutes.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const school: EverydaySchema = {
  name: "school",
  tables: ["teachers", "courses", "students", "enrollments", "absences"],
  statements: statementsOf(`
CREATE TABLE teachers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, subject TEXT NOT NULL, hired_on TEXT NOT NULL);
CREATE TABLE courses (id INTEGER PRIMARY KEY, title TEXT NOT NULL, teacher_id INTEGER NOT NULL REFERENCES teachers(id), room TEXT, credits INTEGER NOT NULL, max_students INTEGER NOT NULL);
CREATE TABLE students (id INTEGER PRIMARY KEY, first_name TEXT NOT NULL, last_name TEXT NOT NULL, birth_date TEXT NOT NULL, grade_level INTEGER NOT NULL, email TEXT, left_on TEXT);
CREATE TABLE enrollments (id INTEGER PRIMARY KEY, student_id INTEGER NOT NULL REFERENCES students(id), course_id INTEGER NOT NULL REFERENCES courses(id), enrolled_on TEXT NOT NULL, dropped_on TEXT, score INTEGER);
CREATE TABLE absences (id INTEGER PRIMARY KEY, student_id INTEGER NOT NULL REFERENCES students(id), day TEXT NOT NULL, excused INTEGER NOT NULL, minutes INTEGER NOT NULL);
INSERT INTO teachers VALUES (1,'Greta Adler','Mathematics','2012-08-01'),(2,'Hugo Bach','History','2019-08-01'),(3,'Irma Cole','Biology','2024-08-01'),(4,'Jan Dorn','Mathematics','2025-08-01');
INSERT INTO courses VALUES (1,'Algebra I',1,'R10',4,25),(2,'Modern Europe',2,'R11',3,30),(3,'Genetics',3,'LAB2',5,16),(4,'Calculus',1,'R10',5,20),(5,'Ancient Rome',2,NULL,3,30);
INSERT INTO students VALUES (1,'Kai','Ebert','2010-05-05',9,'kai@example.com',NULL),(2,'Lola','Fink','2009-09-12',10,'lola@example.com',NULL),(3,'Max','Gold','2008-01-30',11,NULL,NULL),(4,'Nia','Hahn','2010-11-23',9,'nia@example.com',NULL),(5,'Otto','Iser','2008-07-14',11,NULL,'2026-01-31'),(6,'Pam','Jung','2009-03-03',10,'pam@example.com',NULL);
INSERT INTO enrollments VALUES (1,1,1,'2025-09-01',NULL,78),(2,1,2,'2025-09-01',NULL,91),(3,2,1,'2025-09-02','2025-11-15',NULL),(4,2,3,'2025-09-02',NULL,66),(5,3,4,'2025-09-01',NULL,88),(6,3,3,'2025-09-03',NULL,95),(7,4,1,'2025-09-01',NULL,49),(8,4,2,'2026-02-02',NULL,NULL),(9,5,4,'2025-09-01','2026-01-31',NULL),(10,1,3,'2026-02-03',NULL,NULL);
INSERT INTO absences VALUES (1,1,'2026-02-09',1,90),(2,2,'2026-02-17',0,45),(3,2,'2026-03-03',0,135),(4,4,'2026-03-10',1,360),(5,1,'2026-03-16',0,20),(6,3,'2025-12-01',0,45);
`),
  descriptions: [
    {
      table: "students",
      columns: [
        { column: "grade_level", description: "Grade, 5 to 12" },
        { column: "left_on", description: "Day on which the student left the school; empty otherwise" },
      ],
    },
    {
      table: "enrollments",
      columns: [
        { column: "dropped_on", description: "Day on which the student dropped the course; empty otherwise" },
        { column: "score", description: "Points of 100; empty until graded" },
      ],
    },
    {
      table: "absences",
      columns: [
        { column: "excused", description: "1 when excused, 0 when unexcused" },
        { column: "minutes", description: "How long the student was absent, in minutes" },
      ],
    },
  ],
  questions: [
    { q: "How many students are in grade 9?", sql: "SELECT count(*) FROM students WHERE grade_level = 9" },
    { q: "Which courses does Greta Adler teach?", sql: "SELECT title FROM courses WHERE teacher_id = 1" },
    {
      q: "Who dropped Algebra I?",
      sql:
        "SELECT s.first_name, s.last_name FROM enrollments e JOIN students s ON s.id = e.student_id WHERE e.course_id = 1 AND e.dropped_on IS NOT NULL",
    },
    {
      q: "Which students have left the school?",
      sql: "SELECT first_name, last_name FROM students WHERE left_on IS NOT NULL",
    },
    {
      q: "Who isn't enrolled in any course?",
      sql: "SELECT first_name, last_name FROM students WHERE id NOT IN (SELECT student_id FROM enrollments)",
    },
    { q: "Which enrollments haven't been graded?", sql: "SELECT id FROM enrollments WHERE score IS NULL" },
    {
      q: "Which students scored above 80 in Genetics?",
      sql:
        "SELECT s.first_name, s.last_name FROM enrollments e JOIN students s ON s.id = e.student_id WHERE e.course_id = 3 AND e.score > 80",
    },
    {
      q: "Show unexcused absences of this month",
      sql: "SELECT id FROM absences WHERE excused = 0 AND day >= '2026-03-01' AND day < '2026-04-01'",
    },
    {
      q: "How many hours was Lola Fink absent?",
      sql: "SELECT sum(minutes) / 60.0 FROM absences WHERE student_id = 2",
    },
    {
      q: "What was the best score in Algebra I?",
      sql: "SELECT max(score) FROM enrollments WHERE course_id = 1",
    },
    {
      q: "average score per course",
      sql: [
        "SELECT c.title, avg(e.score) FROM enrollments e JOIN courses c ON c.id = e.course_id GROUP BY c.id",
        "SELECT c.title, avg(e.score) FROM courses c LEFT JOIN enrollments e ON c.id = e.course_id GROUP BY c.id",
      ],
    },
    { q: "students per grade level", sql: "SELECT grade_level, count(*) FROM students GROUP BY grade_level" },
    { q: "courses without a room", sql: "SELECT title FROM courses WHERE room IS NULL" },
    { q: "absences longer than an hour", sql: "SELECT id FROM absences WHERE minutes > 60" },
    {
      q: "teachers hired in the last 3 years",
      sql: "SELECT name FROM teachers WHERE hired_on >= '2023-03-18'",
    },
    { q: "courses with at least 5 credits", sql: "SELECT title FROM courses WHERE credits >= 5" },
    {
      q: "courses nobody is enrolled in",
      sql: "SELECT title FROM courses WHERE id NOT IN (SELECT course_id FROM enrollments)",
    },
    {
      q: "second oldest student",
      sql: "SELECT first_name, last_name FROM students ORDER BY birth_date LIMIT 1 OFFSET 1",
    },
    { q: "Which students haven't paid tuition?", mustRefuse: true },
    { q: "teachers who are parents", mustRefuse: true },
  ],
};
