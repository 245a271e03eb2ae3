// A hundred questions over three plain schemas, with the answer of a person as SQL. They stay as they are.

export interface HeldOut {
  readonly q: string;
  /** What a person would have run. */
  readonly sql: string;
  /** Column of its result in whose order the answer has to stand. */
  readonly inOrderOf?: number;
}

/** By the schema's name. */
export const heldOut: Readonly<Record<string, readonly HeldOut[]>> = {
  shop: [
    { q: "How many customers do we have?", sql: "SELECT count(*) FROM customers" },
    {
      q: "How many customers are from Germany?",
      sql: "SELECT count(*) FROM customers WHERE country = 'Germany'",
    },
    { q: "List all product names", sql: "SELECT name FROM products" },
    { q: "What is the average price of products?", sql: "SELECT avg(price) FROM products" },
    {
      q: "What is the most expensive product?",
      sql: "SELECT name FROM products ORDER BY price DESC LIMIT 1",
    },
    {
      q: "Show the 3 cheapest products",
      sql: "SELECT name FROM products ORDER BY price LIMIT 3",
      inOrderOf: 0,
    },
    { q: "Which products are out of stock?", sql: "SELECT name FROM products WHERE stock = 0" },
    { q: "How many products cost more than 50?", sql: "SELECT count(*) FROM products WHERE price > 50" },
    {
      q: "Number of products per category",
      sql: "SELECT c.name, count(*) FROM products p JOIN categories c ON c.id = p.category_id GROUP BY c.id",
    },
    {
      q: "How many orders are pending?",
      sql: "SELECT count(*) FROM orders WHERE status = 'pending'",
    },
    { q: "Number of orders by status", sql: "SELECT status, count(*) FROM orders GROUP BY status" },
    { q: "Total shipping cost of all orders", sql: "SELECT sum(shipping_cost) FROM orders" },
    {
      q: "Which customers live in Berlin?",
      sql: "SELECT name FROM customers WHERE city = 'Berlin'",
    },
    {
      q: "How many orders did each customer place?",
      sql: "SELECT c.name, count(*) FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.id",
    },
    {
      q: "Who are the top 2 customers by number of orders?",
      sql: "SELECT c.name, count(*) n FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.id " +
        "ORDER BY n DESC LIMIT 2",
      inOrderOf: 1,
    },
    {
      q: "Orders placed in January 2026",
      sql: "SELECT id FROM orders WHERE ordered_at >= '2026-01-01' AND ordered_at < '2026-02-01'",
    },
    {
      q: "How many orders were placed in 2025?",
      sql: "SELECT count(*) FROM orders WHERE ordered_at LIKE '2025-%'",
    },
    {
      q: "How many orders have we had since 1 March 2026?",
      sql: "SELECT count(*) FROM orders WHERE ordered_at >= '2026-03-01'",
    },
    {
      q: "Show the products in the Kitchen category",
      sql: "SELECT p.name FROM products p JOIN categories c ON c.id = p.category_id WHERE c.name = 'Kitchen'",
    },
    {
      q: "What is the total quantity sold for each product?",
      sql:
        "SELECT p.name, sum(i.quantity) FROM order_items i JOIN products p ON p.id = i.product_id GROUP BY p.id",
    },
    {
      q: "Average price per category",
      sql:
        "SELECT c.name, avg(p.price) FROM products p JOIN categories c ON c.id = p.category_id GROUP BY c.id",
    },
    {
      q: "Which orders belong to Ada Moreau?",
      sql: "SELECT o.id FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.name = 'Ada Moreau'",
    },
    {
      q: "Customers without an email address",
      sql: "SELECT name FROM customers WHERE email IS NULL",
    },
    {
      q: "How many different countries do customers come from?",
      sql: "SELECT count(DISTINCT country) FROM customers",
    },
    {
      q: "Products priced between 20 and 50",
      sql: "SELECT name FROM products WHERE price BETWEEN 20 AND 50",
    },
    {
      q: "What is the latest order?",
      sql: "SELECT id FROM orders ORDER BY ordered_at DESC LIMIT 1",
    },
    {
      q: "When did Elena Rossi sign up?",
      sql: "SELECT signup_date FROM customers WHERE name = 'Elena Rossi'",
    },
    {
      q: "Which customers have never ordered anything?",
      sql: "SELECT name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)",
    },
    {
      q: "What was the revenue per month?",
      sql:
        "SELECT strftime('%Y-%m', o.ordered_at) m, sum(i.quantity * i.unit_price) FROM orders o JOIN order_items i " +
        "ON i.order_id = o.id GROUP BY m",
    },
    {
      q: "Which category has the most products?",
      sql:
        "SELECT c.name FROM categories c JOIN products p ON p.category_id = c.id GROUP BY c.id ORDER BY count(*) DESC LIMIT 1",
    },
    {
      q: "How many orders were placed this month?",
      sql: "SELECT count(*) FROM orders WHERE ordered_at >= '2026-03-01' AND ordered_at < '2026-04-01'",
    },
    {
      q: "Count customers by country, largest first",
      sql: "SELECT country, count(*) n FROM customers GROUP BY country ORDER BY n DESC, country",
      inOrderOf: 1,
    },
    {
      q: "Sum of stock of all products that are not discontinued",
      sql: "SELECT sum(stock) FROM products WHERE discontinued = 0",
    },
    {
      q: "How many units of Stapler have been sold?",
      sql:
        "SELECT sum(i.quantity) FROM order_items i JOIN products p ON p.id = i.product_id WHERE p.name = 'Stapler'",
    },
  ],
  school: [
    { q: "How many students are there?", sql: "SELECT count(*) FROM students" },
    { q: "Show me all teachers", sql: "SELECT id, first_name, last_name FROM teachers" },
    { q: "What is the average GPA?", sql: "SELECT avg(gpa) FROM students" },
    { q: "What is the highest teacher salary?", sql: "SELECT max(salary) FROM teachers" },
    {
      q: "Which teacher earns the most?",
      sql: "SELECT first_name, last_name FROM teachers ORDER BY salary DESC LIMIT 1",
    },
    {
      q: "How many students are in grade level 10?",
      sql: "SELECT count(*) FROM students WHERE grade_level = 10",
    },
    {
      q: "List the students from Springfield",
      sql: "SELECT first_name, last_name FROM students WHERE city = 'Springfield'",
    },
    {
      q: "Students with a gpa above 3.5",
      sql: "SELECT first_name, last_name FROM students WHERE gpa > 3.5",
    },
    {
      q: "How many students are there in each city?",
      sql: "SELECT city, count(*) FROM students GROUP BY city",
    },
    {
      q: "Average gpa by grade level",
      sql: "SELECT grade_level, avg(gpa) FROM students GROUP BY grade_level",
    },
    { q: "What is the total budget of all departments?", sql: "SELECT sum(budget) FROM departments" },
    {
      q: "Which department has the largest budget?",
      sql: "SELECT name FROM departments ORDER BY budget DESC LIMIT 1",
    },
    {
      q: "Which departments are in North Hall?",
      sql: "SELECT name FROM departments WHERE building = 'North Hall'",
    },
    {
      q: "What courses does the Physics department offer?",
      sql:
        "SELECT title FROM courses c JOIN departments d ON d.id = c.department_id WHERE d.name = 'Physics'",
    },
    {
      q: "Number of courses per department",
      sql:
        "SELECT d.name, count(*) FROM courses c JOIN departments d ON d.id = c.department_id GROUP BY d.id",
    },
    {
      q: "What is the average salary per department?",
      sql:
        "SELECT d.name, avg(t.salary) FROM teachers t JOIN departments d ON d.id = t.department_id GROUP BY d.id",
    },
    {
      q: "Who was hired before 2015?",
      sql: "SELECT first_name, last_name FROM teachers WHERE hire_date < '2015-01-01'",
    },
    {
      q: "Teachers hired after 2018-12-31",
      sql: "SELECT first_name, last_name FROM teachers WHERE hire_date > '2018-12-31'",
    },
    {
      q: "How many students are enrolled in Algebra?",
      sql:
        "SELECT count(*) FROM enrollments e JOIN courses c ON c.id = e.course_id WHERE c.title = 'Algebra'",
    },
    {
      q: "Which students take Calculus?",
      sql:
        "SELECT s.first_name, s.last_name FROM students s JOIN enrollments e ON e.student_id = s.id JOIN courses c " +
        "ON c.id = e.course_id WHERE c.title = 'Calculus'",
    },
    {
      q: "Average score per course",
      sql:
        "SELECT c.title, avg(e.score) FROM enrollments e JOIN courses c ON c.id = e.course_id GROUP BY c.id",
    },
    {
      q: "What are the three courses with the most credits?",
      sql: "SELECT title FROM courses ORDER BY credits DESC LIMIT 3",
      inOrderOf: 0,
    },
    {
      q: "Who is the youngest student?",
      sql: "SELECT first_name, last_name FROM students ORDER BY birth_date DESC LIMIT 1",
    },
    {
      q: "What is Rosa Klein's gpa?",
      sql: "SELECT gpa FROM students WHERE first_name = 'Rosa' AND last_name = 'Klein'",
    },
    {
      q: "How many advanced courses are there?",
      sql: "SELECT count(*) FROM courses WHERE level = 'advanced'",
    },
    {
      q: "Which enrollments have no score yet?",
      sql: "SELECT student_id, course_id FROM enrollments WHERE score IS NULL",
    },
    {
      q: "What is the lowest score in the 2025-fall term?",
      sql: "SELECT min(score) FROM enrollments WHERE term = '2025-fall'",
    },
    {
      q: "How many courses does each teacher teach?",
      sql:
        "SELECT t.first_name, t.last_name, count(*) FROM courses c JOIN teachers t ON t.id = c.teacher_id GROUP BY t.id",
    },
    {
      q: "Which cities have more than two students?",
      sql: "SELECT city FROM students GROUP BY city HAVING count(*) > 2",
    },
    {
      q: "List students ordered by gpa from best to worst",
      sql: "SELECT first_name, last_name FROM students ORDER BY gpa DESC",
      inOrderOf: 1,
    },
    {
      q: "How many credits is Quantum Physics worth?",
      sql: "SELECT credits FROM courses WHERE title = 'Quantum Physics'",
    },
    {
      q: "Who teaches Choir?",
      sql:
        "SELECT t.first_name, t.last_name FROM teachers t JOIN courses c ON c.teacher_id = t.id WHERE c.title = 'Choir'",
    },
    {
      q: "How many students were born in 2008?",
      sql: "SELECT count(*) FROM students WHERE birth_date LIKE '2008-%'",
    },
  ],
  clinic: [
    { q: "How many patients are registered?", sql: "SELECT count(*) FROM patients" },
    {
      q: "List the doctors and their specialties",
      sql: "SELECT full_name, specialty FROM doctors",
    },
    {
      q: "Which doctors work in Cardiology?",
      sql: "SELECT full_name FROM doctors WHERE specialty = 'Cardiology'",
    },
    {
      q: "How many appointments were cancelled?",
      sql: "SELECT count(*) FROM appointments WHERE status = 'cancelled'",
    },
    {
      q: "Appointments per doctor",
      sql:
        "SELECT d.full_name, count(*) FROM appointments a JOIN doctors d ON d.doctor_id = a.doctor_id GROUP BY 1",
    },
    { q: "What is the average appointment duration?", sql: "SELECT avg(duration_min) FROM appointments" },
    {
      q: "Total amount of unpaid invoices",
      sql: "SELECT sum(amount) FROM invoices WHERE paid = 0",
    },
    { q: "What is the biggest invoice amount?", sql: "SELECT max(amount) FROM invoices" },
    {
      q: "How much has Boris Tan been invoiced in total?",
      sql:
        "SELECT sum(amount) FROM invoices i JOIN patients p ON p.patient_id = i.patient_id WHERE full_name = 'Boris Tan'",
    },
    {
      q: "Which patients have blood type O+?",
      sql: "SELECT full_name FROM patients WHERE blood_type = 'O+'",
    },
    {
      q: "How many female patients are there?",
      sql: "SELECT count(*) FROM patients WHERE sex = 'F'",
    },
    {
      q: "Number of patients per insurance",
      sql: "SELECT insurance, count(*) FROM patients GROUP BY insurance",
    },
    {
      q: "Which patients have no insurance?",
      sql: "SELECT full_name FROM patients WHERE insurance IS NULL",
    },
    {
      q: "What appointments are scheduled for today?",
      sql: "SELECT appt_id FROM appointments WHERE date(starts_at) = '2026-03-18'",
    },
    {
      q: "Appointments longer than 30 minutes",
      sql: "SELECT appt_id FROM appointments WHERE duration_min > 30",
    },
    { q: "Who is the oldest patient?", sql: "SELECT full_name FROM patients ORDER BY dob LIMIT 1" },
    {
      q: "Top 3 patients by total invoice amount",
      sql:
        "SELECT full_name, sum(amount) n FROM invoices i JOIN patients p ON p.patient_id = i.patient_id GROUP BY 1 " +
        "ORDER BY n DESC LIMIT 3",
      inOrderOf: 1,
    },
    {
      q: "Invoices over 200 issued in 2026",
      sql: "SELECT invoice_id FROM invoices WHERE amount > 200 AND issued_on >= '2026-01-01'",
    },
    {
      q: "How many appointments does Dr. Ito have?",
      sql:
        "SELECT count(*) FROM appointments a JOIN doctors d ON d.doctor_id = a.doctor_id WHERE full_name = 'Dr. Ito'",
    },
    {
      q: "Which medications come as tablets?",
      sql: "SELECT name FROM medications WHERE form = 'tablet'",
    },
    {
      q: "How many times was Aspirin prescribed?",
      sql:
        "SELECT count(*) FROM prescriptions r JOIN medications m ON m.med_id = r.med_id WHERE m.name = 'Aspirin'",
    },
    {
      q: "What is the maximum dose of Metoprolol?",
      sql:
        "SELECT max(dose_mg) FROM prescriptions r JOIN medications m ON m.med_id = r.med_id WHERE m.name = 'Metoprolol'",
    },
    {
      q: "Patients born after 1990",
      sql: "SELECT full_name FROM patients WHERE dob > '1990-12-31'",
    },
    {
      q: "Which patients has Dr. Lange seen?",
      sql:
        "SELECT DISTINCT p.full_name FROM appointments a JOIN doctors d ON d.doctor_id = a.doctor_id JOIN patients p " +
        "ON p.patient_id = a.patient_id WHERE d.full_name = 'Dr. Lange'",
    },
    {
      q: "Count of appointments by month",
      sql: "SELECT strftime('%Y-%m', starts_at) m, count(*) FROM appointments GROUP BY m",
    },
    {
      q: "Which room is Dr. Olsen in?",
      sql: "SELECT room FROM doctors WHERE full_name = 'Dr. Olsen'",
    },
    {
      q: "What are the distinct reasons for appointments?",
      sql: "SELECT DISTINCT reason FROM appointments",
    },
    {
      q: "Which specialty has the most doctors?",
      sql: "SELECT specialty FROM doctors GROUP BY specialty ORDER BY count(*) DESC LIMIT 1",
    },
    {
      q: "How many invoices have been paid?",
      sql: "SELECT count(*) FROM invoices WHERE paid = 1",
    },
    {
      q: "Average invoice amount per patient",
      sql:
        "SELECT full_name, avg(amount) FROM invoices i JOIN patients p ON p.patient_id = i.patient_id GROUP BY 1",
    },
    {
      q: "List appointments in the last 30 days",
      sql: "SELECT appt_id FROM appointments WHERE date(starts_at) BETWEEN '2026-02-16' AND '2026-03-18'",
    },
    {
      q: "How many completed appointments did each doctor have?",
      sql:
        "SELECT d.full_name, count(*) FROM appointments a JOIN doctors d ON d.doctor_id = a.doctor_id WHERE " +
        "status = 'completed' GROUP BY 1",
    },
    {
      q: "Which doctor has had the most appointments?",
      sql:
        "SELECT d.full_name FROM appointments a JOIN doctors d ON d.doctor_id = a.doctor_id GROUP BY 1 ORDER BY " +
        "count(*) DESC LIMIT 1",
    },
  ],
};
