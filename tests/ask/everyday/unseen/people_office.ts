// A people office: managers in the same table, moves between two departments, requests with a decision that may be missing.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const peopleOffice: EverydaySchema = {
  name: "people-office",
  tables: ["departments", "employees", "leave_requests", "department_moves"],
  statements: statementsOf(`
CREATE TABLE departments (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, budget_cents INTEGER NOT NULL);
CREATE TABLE employees (id INTEGER PRIMARY KEY, name TEXT NOT NULL, department_id INTEGER NOT NULL REFERENCES departments(id), manager_id INTEGER REFERENCES employees(id), job_title TEXT NOT NULL, salary_cents INTEGER NOT NULL, hired_on TEXT NOT NULL, left_on TEXT, remote INTEGER NOT NULL DEFAULT 0);
CREATE TABLE leave_requests (id INTEGER PRIMARY KEY, employee_id INTEGER NOT NULL REFERENCES employees(id), kind TEXT NOT NULL CHECK (kind IN ('vacation','sick','parental')), from_date TEXT NOT NULL, to_date TEXT NOT NULL, status TEXT NOT NULL CHECK (status IN ('pending','approved','rejected')), decided_at TEXT);
CREATE TABLE department_moves (id INTEGER PRIMARY KEY, employee_id INTEGER NOT NULL REFERENCES employees(id), from_department_id INTEGER NOT NULL REFERENCES departments(id), to_department_id INTEGER NOT NULL REFERENCES departments(id), moved_on TEXT NOT NULL);
INSERT INTO departments VALUES (1,'Engineering','Berlin',90000000),(2,'Sales','London',50000000),(3,'People','Berlin',20000000),(4,'Legal','Paris',15000000);
INSERT INTO employees VALUES (1,'Alice Munro',1,NULL,'CTO',15000000,'2015-03-01',NULL,0),(2,'Boris Klem',1,1,'Engineer',7800000,'2019-06-15',NULL,1),(3,'Cara Diaz',1,1,'Engineer',8400000,'2021-01-10','2025-12-31',1),(4,'Dan Egan',2,NULL,'Head of Sales',11000000,'2017-09-01',NULL,0),(5,'Eva Frost',2,4,'Account Manager',6200000,'2022-04-04',NULL,0),(6,'Filip Gorn',2,4,'Account Manager',5900000,'2026-01-12',NULL,1),(7,'Gina Holt',3,1,'Recruiter',5400000,'2026-02-02',NULL,0),(8,'Hari Iyer',1,2,'Intern',2400000,'2026-03-02',NULL,0);
INSERT INTO leave_requests VALUES (1,2,'vacation','2026-02-09','2026-02-13','approved','2026-01-20'),(2,5,'sick','2026-02-24','2026-02-25','approved','2026-02-24'),(3,6,'vacation','2026-03-16','2026-03-20','approved','2026-03-01'),(4,7,'vacation','2026-04-06','2026-04-17','pending',NULL),(5,2,'parental','2026-05-01','2026-07-31','pending',NULL),(6,4,'vacation','2026-03-23','2026-03-27','rejected','2026-03-10'),(7,8,'sick','2026-03-18','2026-03-18','pending',NULL);
INSERT INTO department_moves VALUES (1,5,3,2,'2024-02-01'),(2,2,2,1,'2020-01-01'),(3,7,2,3,'2026-03-01'),(4,3,2,1,'2022-05-01');
`),
  descriptions: [
    {
      table: "employees",
      columns: [
        { column: "manager_id", description: "Whom the employee reports to; empty at the top" },
        { column: "salary_cents", description: "What the employee earns a year, in euro cents" },
        { column: "left_on", description: "Day on which the employee left the company; empty otherwise" },
        { column: "remote", description: "1 when working from home" },
      ],
    },
    {
      table: "leave_requests",
      columns: [
        { column: "kind", description: "vacation, sick or parental" },
        { column: "from_date", description: "First day of the leave" },
        { column: "to_date", description: "Last day of the leave" },
      ],
    },
    { table: "department_moves", description: "An employee moved from one department to another" },
  ],
  questions: [
    { q: "Who works in Sales?", sql: "SELECT name FROM employees WHERE department_id = 2" },
    { q: "Who has left the company?", sql: "SELECT name FROM employees WHERE left_on IS NOT NULL" },
    {
      q: "How many people were hired this year?",
      sql: "SELECT count(*) FROM employees WHERE hired_on >= '2026-01-01'",
    },
    {
      q: "Who earns more than 80,000 euros?",
      sql: [
        "SELECT name FROM employees WHERE salary_cents > 8000000",
        "SELECT name FROM employees WHERE salary_cents > 8000000 AND left_on IS NULL",
      ],
    },
    { q: "Which employees have no manager?", sql: "SELECT name FROM employees WHERE manager_id IS NULL" },
    { q: "Who reports to Dan Egan?", sql: "SELECT name FROM employees WHERE manager_id = 4" },
    {
      q: "Which leave requests are still pending?",
      sql: "SELECT id FROM leave_requests WHERE status = 'pending'",
    },
    {
      q: "Who is on vacation today?",
      sql:
        "SELECT e.name FROM leave_requests l JOIN employees e ON e.id = l.employee_id WHERE l.kind = 'vacation' AND l.status = 'approved' AND '2026-03-18' BETWEEN l.from_date AND l.to_date",
    },
    {
      q: "Who moved from Sales to Engineering?",
      sql:
        "SELECT e.name FROM department_moves m JOIN employees e ON e.id = m.employee_id WHERE m.from_department_id = 2 AND m.to_department_id = 1",
    },
    {
      q: "Do any departments have no employees?",
      sql: "SELECT name FROM departments WHERE id NOT IN (SELECT department_id FROM employees)",
    },
    {
      q: "average salary per department",
      sql: [
        "SELECT d.name, avg(e.salary_cents) FROM employees e JOIN departments d ON d.id = e.department_id GROUP BY d.id",
        "SELECT d.name, avg(e.salary_cents) / 100.0 FROM employees e JOIN departments d ON d.id = e.department_id GROUP BY d.id",
        "SELECT d.name, avg(e.salary_cents) FROM departments d LEFT JOIN employees e ON d.id = e.department_id GROUP BY d.id",
      ],
    },
    {
      q: "employees by department",
      sql: [
        "SELECT d.name, count(*) FROM employees e JOIN departments d ON d.id = e.department_id GROUP BY d.id",
        "SELECT d.name, count(e.id) FROM departments d LEFT JOIN employees e ON d.id = e.department_id GROUP BY d.id",
        "SELECT d.name, count(*) FROM employees e JOIN departments d ON d.id = e.department_id WHERE e.left_on IS NULL GROUP BY d.id",
      ],
    },
    { q: "highest paid employee", sql: "SELECT name FROM employees ORDER BY salary_cents DESC LIMIT 1" },
    { q: "remote employees", sql: "SELECT name FROM employees WHERE remote = 1" },
    { q: "employees hired before 2020", sql: "SELECT name FROM employees WHERE hired_on < '2020-01-01'" },
    {
      q: "rejected vacation requests",
      sql: "SELECT id FROM leave_requests WHERE kind = 'vacation' AND status = 'rejected'",
    },
    {
      q: "departments with a budget over 400,000 euros",
      sql: "SELECT name FROM departments WHERE budget_cents > 40000000",
    },
    {
      q: "number of leave requests by kind and status",
      sql: "SELECT kind, status, count(*) FROM leave_requests GROUP BY kind, status",
    },
    { q: "Which employees have a company car?", mustRefuse: true },
    { q: "gender pay gap", mustRefuse: true },
  ],
};
