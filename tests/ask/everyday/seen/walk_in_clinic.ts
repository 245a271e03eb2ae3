// A clinic: appointments with a status, a length in minutes and a confirmation that may be missing.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const walkInClinic: EverydaySchema = {
  name: "walk-in-clinic",
  tables: ["patients", "doctors", "appointments", "prescriptions"],
  statements: statementsOf(`
CREATE TABLE patients (id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, birth_date TEXT NOT NULL, phone TEXT, insurance TEXT NOT NULL, height_cm INTEGER, weight_kg REAL);
CREATE TABLE doctors (id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, specialty TEXT NOT NULL, room TEXT);
CREATE TABLE appointments (id INTEGER PRIMARY KEY, patient_id INTEGER NOT NULL REFERENCES patients(id), doctor_id INTEGER NOT NULL REFERENCES doctors(id), starts_at TEXT NOT NULL, duration_min INTEGER NOT NULL, status TEXT NOT NULL CHECK (status IN ('booked','completed','no_show','cancelled')), confirmed_at TEXT, fee_cents INTEGER NOT NULL);
CREATE TABLE prescriptions (id INTEGER PRIMARY KEY, appointment_id INTEGER NOT NULL REFERENCES appointments(id), drug TEXT NOT NULL, dose_mg INTEGER NOT NULL, issued_on TEXT NOT NULL, filled_on TEXT);
INSERT INTO patients VALUES (1,'Alba Cruz','1958-04-11','555-1001','public',162,58.5),(2,'Bruno Kern','1990-08-30',NULL,'private',184,91),(3,'Carla Voss','2015-01-22','555-1003','public',120,24),(4,'Deniz Aydin','1972-12-05','555-1004','none',175,80),(5,'Erik Holm','2001-06-17',NULL,'public',190,77),(6,'Fay Wong','1985-03-18','555-1006','private',158,51);
INSERT INTO doctors VALUES (1,'Dr. Hana Sato','Cardiology','2.14'),(2,'Dr. Igor Pavel','Pediatrics','1.03'),(3,'Dr. Julia Brandt','Dermatology','1.07'),(4,'Dr. Kofi Mensah','Cardiology','2.15');
INSERT INTO appointments VALUES (1,1,1,'2026-01-12 09:00:00',30,'completed','2026-01-10 10:00:00',8000),(2,2,3,'2026-01-20 11:30:00',20,'no_show',NULL,5000),(3,3,2,'2026-02-03 14:00:00',15,'completed','2026-02-01 09:00:00',4500),(4,4,3,'2026-02-10 08:30:00',45,'completed',NULL,9000),(5,1,4,'2026-02-19 10:00:00',60,'cancelled','2026-02-15 12:00:00',12000),(6,5,2,'2026-03-02 16:00:00',20,'no_show','2026-03-01 08:00:00',4500),(7,6,1,'2026-03-11 09:30:00',30,'completed','2026-03-09 17:00:00',8000),(8,2,1,'2026-03-18 13:00:00',90,'booked',NULL,15000),(9,1,1,'2026-03-19 09:00:00',30,'booked','2026-03-17 11:00:00',8000),(10,3,2,'2026-03-25 14:30:00',15,'booked',NULL,4500),(11,6,3,'2026-04-07 12:00:00',20,'booked',NULL,5000),(12,4,4,'2026-03-06 10:15:00',40,'cancelled',NULL,11000);
INSERT INTO prescriptions VALUES (1,1,'Bisoprolol',5,'2026-01-12','2026-01-13'),(2,3,'Amoxicillin',250,'2026-02-03',NULL),(3,4,'Hydrocortisone',10,'2026-02-10','2026-02-11'),(4,7,'Bisoprolol',10,'2026-03-11',NULL),(5,7,'Aspirin',100,'2026-03-11','2026-03-12');
`),
  descriptions: [
    {
      table: "appointments",
      columns: [
        {
          column: "status",
          description: "booked, completed, no_show (the patient did not show up) or cancelled",
        },
        { column: "confirmed_at", description: "When the patient confirmed; empty until then" },
        { column: "fee_cents", description: "Fee in euro cents; the revenue of an appointment" },
      ],
    },
    {
      table: "doctors",
      columns: [{
        column: "specialty",
        description: "Field, e.g. Cardiology (cardiologist), Pediatrics (pediatrician)",
      }],
    },
    {
      table: "prescriptions",
      columns: [{ column: "filled_on", description: "Day on which a pharmacy filled it; empty until then" }],
    },
  ],
  questions: [
    {
      q: "How many appointments do we have tomorrow?",
      sql: "SELECT count(*) FROM appointments WHERE date(starts_at) = '2026-03-19'",
    },
    { q: "Which patients have no phone number?", sql: "SELECT full_name FROM patients WHERE phone IS NULL" },
    {
      q: "Who didn't show up in January?",
      sql:
        "SELECT p.full_name FROM appointments a JOIN patients p ON p.id = a.patient_id WHERE a.status = 'no_show' AND a.starts_at LIKE '2026-01%'",
    },
    {
      q: "Which appointments are longer than half an hour?",
      sql: "SELECT id FROM appointments WHERE duration_min > 30",
    },
    {
      q: "Which appointments take an hour or more?",
      sql: "SELECT id FROM appointments WHERE duration_min >= 60",
    },
    {
      q: "Which prescriptions haven't been filled yet?",
      sql: "SELECT id FROM prescriptions WHERE filled_on IS NULL",
    },
    {
      q: "which appointments are not confirmed?",
      sql: "SELECT id FROM appointments WHERE confirmed_at IS NULL",
    },
    {
      q: "Which patients are older than 60?",
      sql: "SELECT full_name FROM patients WHERE birth_date < '1966-03-18'",
    },
    { q: "Who has private insurance?", sql: "SELECT full_name FROM patients WHERE insurance = 'private'" },
    {
      q: "Who are our doctors apart from the cardiologists?",
      sql: "SELECT full_name FROM doctors WHERE specialty <> 'Cardiology'",
    },
    {
      q: "doctor with the most appointments",
      sql:
        "SELECT d.full_name FROM appointments a JOIN doctors d ON d.id = a.doctor_id GROUP BY d.id ORDER BY count(*) DESC LIMIT 1",
    },
    {
      q: "cancelled appointments per doctor",
      sql:
        "SELECT d.full_name, count(*) FROM appointments a JOIN doctors d ON d.id = a.doctor_id WHERE a.status = 'cancelled' GROUP BY d.id",
    },
    {
      q: "revenue from completed appointments",
      sql: [
        "SELECT sum(fee_cents) FROM appointments WHERE status = 'completed'",
        "SELECT sum(fee_cents) / 100.0 FROM appointments WHERE status = 'completed'",
      ],
    },
    {
      q: "average appointment duration by specialty",
      sql:
        "SELECT d.specialty, avg(a.duration_min) FROM appointments a JOIN doctors d ON d.id = a.doctor_id GROUP BY d.specialty",
    },
    {
      q: "upcoming appointments",
      sql: "SELECT id FROM appointments WHERE starts_at > '2026-03-18 10:00:00'",
    },
    {
      q: "next appointment",
      sql: "SELECT id FROM appointments WHERE starts_at > '2026-03-18 10:00:00' ORDER BY starts_at LIMIT 1",
    },
    {
      q: "number of patients per insurance",
      sql: "SELECT insurance, count(*) FROM patients GROUP BY insurance",
    },
    {
      q: "patients with appointments at both Dr. Hana Sato and Dr. Kofi Mensah",
      sql:
        "SELECT full_name FROM patients WHERE id IN (SELECT patient_id FROM appointments WHERE doctor_id = 1) AND id IN (SELECT patient_id FROM appointments WHERE doctor_id = 4)",
    },
    { q: "Which patients are allergic to penicillin?", mustRefuse: true },
    { q: "doctors on vacation next week", mustRefuse: true },
  ],
};
