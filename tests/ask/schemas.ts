// Three databases that the hundred plain questions are asked of: tables, rows, stored descriptions.

export interface AskedSchema {
  readonly name: string;
  readonly tables: readonly string[];
  /** DDL and rows, run in this order. */
  readonly statements: readonly string[];
  readonly descriptions: readonly {
    readonly table: string;
    readonly description?: string;
    readonly columns?: readonly { readonly column: string; readonly description: string }[];
  }[];
}

/** The day on which all questions are asked. */
export const ASKED_ON = "2026-03-18T10:00:00Z";

const shop: AskedSchema = {
  name: "shop",
  tables: ["customers", "categories", "products", "orders", "order_items"],
  statements: [
    "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, city TEXT, country TEXT, " +
    "signup_date TEXT)",
    "CREATE TABLE categories (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
    "CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category_id INTEGER REFERENCES " +
    "categories(id), price REAL NOT NULL, stock INTEGER NOT NULL, discontinued INTEGER NOT NULL DEFAULT 0)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), " +
    "ordered_at TEXT NOT NULL, status TEXT NOT NULL, shipping_cost REAL NOT NULL)",
    "CREATE TABLE order_items (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id), " +
    "product_id INTEGER NOT NULL REFERENCES products(id), quantity INTEGER NOT NULL, unit_price REAL NOT NULL)",
    "INSERT INTO customers VALUES " +
    "(1,'Ada Moreau','ada@example.com','Paris','France','2025-01-14')," +
    "(2,'Ben Okafor','ben@example.com','Berlin','Germany','2025-02-03')," +
    "(3,'Chloe Ruiz',NULL,'Madrid','Spain','2025-03-22')," +
    "(4,'Dmitri Volkov','dmitri@example.com','Berlin','Germany','2025-06-30')," +
    "(5,'Elena Rossi','elena@example.com','Rome','Italy','2025-07-07')," +
    "(6,'Farid Haddad','farid@example.com','Paris','France','2025-11-19')," +
    "(7,'Greta Lind',NULL,'Hamburg','Germany','2026-01-05')," +
    "(8,'Hugo Silva','hugo@example.com','Lisbon','Portugal','2026-02-11')",
    "INSERT INTO categories VALUES (1,'Kitchen'),(2,'Garden'),(3,'Office'),(4,'Toys')",
    "INSERT INTO products VALUES " +
    "(1,'Chef Knife',1,49.9,30,0),(2,'Cast Iron Pan',1,64.0,12,0),(3,'Tea Kettle',1,35.5,0,0)," +
    "(4,'Garden Hose',2,28.0,45,0),(5,'Pruning Shears',2,22.5,60,0),(6,'Lawn Chair',2,79.0,8,1)," +
    "(7,'Desk Lamp',3,41.0,25,0),(8,'Office Chair',3,189.0,5,0),(9,'Stapler',3,9.9,150,0)," +
    "(10,'Puzzle Box',4,18.0,70,0),(11,'Toy Train',4,55.0,0,1),(12,'Watering Can',2,15.0,40,0)",
    "INSERT INTO orders VALUES " +
    "(1,1,'2025-10-02 09:15:00','delivered',5.0),(2,2,'2025-11-11 14:30:00','delivered',7.5)," +
    "(3,1,'2025-12-24 18:05:00','delivered',0.0),(4,4,'2026-01-09 08:00:00','delivered',9.0)," +
    "(5,5,'2026-01-20 12:40:00','cancelled',6.0),(6,1,'2026-02-02 10:10:00','shipped',5.0)," +
    "(7,6,'2026-02-14 20:20:00','shipped',4.5),(8,4,'2026-02-27 16:45:00','delivered',9.0)," +
    "(9,2,'2026-03-01 11:00:00','pending',8.0),(10,8,'2026-03-10 13:13:00','pending',12.0)," +
    "(11,2,'2026-03-16 07:55:00','pending',7.5),(12,1,'2026-03-18 08:30:00','pending',5.0)",
    "INSERT INTO order_items VALUES " +
    "(1,1,1,2,49.9),(2,1,4,1,28.0),(3,2,8,1,189.0),(4,3,10,4,18.0),(5,3,7,1,41.0),(6,4,2,1,64.0)," +
    "(7,4,9,10,9.9),(8,5,11,2,55.0),(9,6,5,3,22.5),(10,7,1,1,45.0),(11,7,2,2,60.0),(12,8,8,2,180.0)," +
    "(13,9,9,5,9.9),(14,9,7,2,41.0),(15,10,10,1,18.0),(16,11,1,1,49.9),(17,12,6,1,79.0),(18,12,9,4,9.9)",
  ],
  descriptions: [
    {
      table: "orders",
      columns: [{ column: "status", description: "pending, shipped, delivered or cancelled" }],
    },
    { table: "products", columns: [{ column: "stock", description: "Units in the warehouse" }] },
  ],
};

const school: AskedSchema = {
  name: "school",
  tables: ["departments", "teachers", "courses", "students", "enrollments"],
  statements: [
    "CREATE TABLE departments (id INTEGER PRIMARY KEY, name TEXT NOT NULL, building TEXT, budget INTEGER)",
    "CREATE TABLE teachers (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, department_id INTEGER " +
    "REFERENCES departments(id), hire_date TEXT, salary INTEGER)",
    "CREATE TABLE courses (id INTEGER PRIMARY KEY, title TEXT NOT NULL, department_id INTEGER REFERENCES " +
    "departments(id), teacher_id INTEGER REFERENCES teachers(id), credits INTEGER, level TEXT)",
    "CREATE TABLE students (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, birth_date TEXT, " +
    "grade_level INTEGER, gpa REAL, city TEXT)",
    "CREATE TABLE enrollments (student_id INTEGER REFERENCES students(id), course_id INTEGER REFERENCES " +
    "courses(id), term TEXT, score INTEGER, PRIMARY KEY (student_id, course_id))",
    "INSERT INTO departments VALUES (1,'Mathematics','North Hall',90000),(2,'History','South Hall',60000)," +
    "(3,'Physics','North Hall',120000),(4,'Music','Annex',40000)",
    "INSERT INTO teachers VALUES (1,'Irene','Walsh',1,'2012-08-20',71000),(2,'Jonas','Berg',1,'2019-01-15',58000)," +
    "(3,'Karim','Nasser',2,'2008-09-01',76000),(4,'Lucia','Prado',3,'2021-03-10',61000)," +
    "(5,'Mads','Holm',3,'2015-05-05',69500),(6,'Nora','Quinn',4,'2023-08-28',49000)",
    "INSERT INTO courses VALUES (1,'Algebra',1,1,4,'beginner'),(2,'Calculus',1,1,5,'advanced')," +
    "(3,'Statistics',1,2,4,'intermediate'),(4,'World History',2,3,3,'beginner')," +
    "(5,'Mechanics',3,4,7,'intermediate'),(6,'Quantum Physics',3,5,6,'advanced')," +
    "(7,'Choir',4,6,1,'beginner'),(8,'Jazz Ensemble',4,6,2,'intermediate')",
    "INSERT INTO students VALUES (1,'Olga','Petrov','2008-04-12',10,3.6,'Springfield')," +
    "(2,'Pedro','Santos','2007-11-30',11,3.1,'Riverton'),(3,'Quincy','Adams','2009-02-17',9,2.7,'Springfield')," +
    "(4,'Rosa','Klein','2006-06-06',12,3.9,'Lakeside'),(5,'Samir','Khan','2007-01-25',11,3.4,'Springfield')," +
    "(6,'Tess','Murray','2008-09-09',10,2.9,'Riverton'),(7,'Umar','Diallo','2006-12-01',12,3.2,'Lakeside')," +
    "(8,'Vera','Novak','2009-07-21',9,3.8,'Riverton'),(9,'Wes','Parker','2008-01-03',10,2.4,'Springfield')",
    "INSERT INTO enrollments VALUES (1,1,'2025-fall',88),(1,4,'2025-fall',92),(2,2,'2025-fall',75)," +
    "(2,5,'2026-spring',81),(3,1,'2025-fall',64),(3,7,'2026-spring',95),(4,2,'2025-fall',97)," +
    "(4,6,'2026-spring',93),(4,3,'2026-spring',99),(5,3,'2026-spring',84),(5,5,'2026-spring',78)," +
    "(6,4,'2025-fall',70),(6,8,'2026-spring',86),(7,6,'2026-spring',72),(7,2,'2025-fall',68)," +
    "(8,1,'2025-fall',91),(8,3,'2026-spring',NULL),(9,1,'2025-fall',55)",
  ],
  descriptions: [
    { table: "enrollments", description: "Which student takes which course, with the final score" },
    { table: "students", columns: [{ column: "grade_level", description: "School year, 9 to 12" }] },
  ],
};

const clinic: AskedSchema = {
  name: "clinic",
  tables: ["patients", "doctors", "appointments", "medications", "prescriptions", "invoices"],
  statements: [
    "CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, dob TEXT, sex TEXT, " +
    "blood_type TEXT, insurance TEXT)",
    "CREATE TABLE doctors (doctor_id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, specialty TEXT, room TEXT)",
    "CREATE TABLE appointments (appt_id INTEGER PRIMARY KEY, patient_id INTEGER NOT NULL REFERENCES patients, " +
    "doctor_id INTEGER NOT NULL REFERENCES doctors, starts_at TEXT NOT NULL, duration_min INTEGER, status TEXT, " +
    "reason TEXT)",
    "CREATE TABLE medications (med_id INTEGER PRIMARY KEY, name TEXT NOT NULL, form TEXT)",
    "CREATE TABLE prescriptions (rx_id INTEGER PRIMARY KEY, appt_id INTEGER NOT NULL REFERENCES appointments, " +
    "med_id INTEGER NOT NULL REFERENCES medications, dose_mg INTEGER, days INTEGER)",
    "CREATE TABLE invoices (invoice_id INTEGER PRIMARY KEY, patient_id INTEGER NOT NULL REFERENCES patients, " +
    "issued_on TEXT, amount REAL, paid INTEGER)",
    "INSERT INTO patients VALUES (1,'Anna Keller','1985-05-02','F','A+','Helvia')," +
    "(2,'Boris Tan','1950-12-19','M','O-','Medix'),(3,'Carla Mendes','1999-08-08','F','B+','Helvia')," +
    "(4,'David Cho','2015-03-27','M','O+',NULL),(5,'Esther Blum','1972-10-10','F','AB+','Medix')," +
    "(6,'Femi Ade','1991-01-31','M','A+','Helvia'),(7,'Gina Fox','1964-07-16','F','O+','Sanitas')",
    "INSERT INTO doctors VALUES (1,'Dr. Ito','Cardiology','A1'),(2,'Dr. Lange','Dermatology','B2')," +
    "(3,'Dr. Marsh','Pediatrics','C3'),(4,'Dr. Nunez','Cardiology','A2'),(5,'Dr. Olsen','Neurology','D4')",
    "INSERT INTO appointments VALUES (1,1,2,'2025-09-12 09:00',20,'completed','Rash')," +
    "(2,2,1,'2025-10-03 10:30',45,'completed','Chest pain'),(3,4,3,'2025-11-21 14:00',15,'completed','Checkup')," +
    "(4,2,1,'2025-12-05 11:00',30,'completed','Follow-up'),(5,5,4,'2026-01-14 08:30',60,'completed','Palpitations')," +
    "(6,3,2,'2026-01-29 16:00',20,'cancelled','Acne'),(7,6,1,'2026-02-10 09:45',30,'completed','Checkup')," +
    "(8,7,1,'2026-02-18 13:15',45,'no_show','Chest pain'),(9,1,4,'2026-03-02 15:00',35,'completed','Checkup')," +
    "(10,4,3,'2026-03-18 09:30',25,'scheduled','Vaccination'),(11,2,2,'2026-03-25 10:00',15,'scheduled','Rash')," +
    "(12,5,1,'2026-04-07 12:00',30,'scheduled','Follow-up')",
    "INSERT INTO medications VALUES (1,'Aspirin','tablet'),(2,'Hydrocortisone','cream'),(3,'Amoxicillin','syrup')," +
    "(4,'Metoprolol','tablet'),(5,'Ibuprofen','tablet')",
    "INSERT INTO prescriptions VALUES (1,1,2,10,14),(2,2,1,100,90),(3,2,4,50,90),(4,3,3,250,7),(5,4,4,75,60)," +
    "(6,5,4,25,30),(7,5,1,100,30),(8,7,5,400,5),(9,9,1,81,120)",
    "INSERT INTO invoices VALUES (1,1,'2025-09-15',120.0,1),(2,2,'2025-10-06',340.5,1),(3,4,'2025-11-24',60.0,1)," +
    "(4,2,'2025-12-08',210.0,0),(5,5,'2026-01-16',480.0,1),(6,6,'2026-02-12',150.0,0),(7,7,'2026-02-20',50.0,0)," +
    "(8,1,'2026-03-04',175.0,0)",
  ],
  descriptions: [
    { table: "patients", columns: [{ column: "dob", description: "Date of birth" }] },
    { table: "prescriptions", columns: [{ column: "days", description: "How many days to take it" }] },
    { table: "appointments", description: "Visits of patients to doctors, past and planned" },
  ],
};

export const askedSchemas: readonly AskedSchema[] = [shop, school, clinic];
