// Sixty questions over three schemas, written before the ranking was tuned: what search must find in its first three.

export interface SearchSchema {
  readonly name: string;
  readonly databaseDescription: string;
  readonly tables: readonly {
    readonly table: string;
    readonly description?: string;
    /** Name, declared type, stored description. */
    readonly columns: readonly (readonly [name: string, type: string, description?: string])[];
  }[];
  readonly questions: readonly SearchQuestion[];
}

/** `expects`: any of these among the first three hits is right; `table` or `table.column`, `` is the database. */
export interface SearchQuestion {
  readonly q: string;
  readonly expects: readonly string[];
}

const shop: SearchSchema = {
  name: "shop",
  databaseDescription: "Web shop for garden tools: catalogue, orders, parcels, returns",
  tables: [
    {
      table: "customers",
      description: "People who have registered, with their billing data",
      columns: [
        ["customer_id", "INTEGER PRIMARY KEY"],
        ["full_name", "TEXT"],
        ["email_address", "TEXT", "Where receipts go"],
        ["loyalty_points", "INTEGER", "Earned with each purchase, spent as a discount"],
        ["newsletter_opt_in", "INTEGER"],
      ],
    },
    {
      table: "products",
      description: "Everything the catalogue sells",
      columns: [
        ["product_id", "INTEGER PRIMARY KEY"],
        ["title", "TEXT"],
        ["unit_price_cents", "INTEGER", "Gross price in euro cents"],
        ["stock_quantity", "INTEGER", "Pieces in the warehouse"],
        ["discontinued_at", "TEXT"],
      ],
    },
    {
      table: "orders",
      columns: [
        ["order_id", "INTEGER PRIMARY KEY"],
        ["customer_id", "INTEGER"],
        ["placed_at", "TEXT", "When the shopper pressed buy"],
        ["payment_method", "TEXT", "card, invoice or voucher"],
        ["shipping_country", "TEXT"],
      ],
    },
    {
      table: "order_lines",
      description: "Which products an order holds, and how many",
      columns: [
        ["order_id", "INTEGER"],
        ["product_id", "INTEGER"],
        ["quantity", "INTEGER"],
        ["discount_percent", "REAL"],
      ],
    },
    {
      table: "shipments",
      description: "Parcels handed to a carrier",
      columns: [
        ["shipment_id", "INTEGER PRIMARY KEY"],
        ["order_id", "INTEGER"],
        ["carrier_name", "TEXT"],
        ["tracking_number", "TEXT"],
        ["delivered_at", "TEXT"],
      ],
    },
    {
      table: "returns",
      description: "Goods sent back, with the refund",
      columns: [
        ["return_id", "INTEGER PRIMARY KEY"],
        ["order_id", "INTEGER"],
        ["reason_code", "TEXT"],
        ["refunded_amount_cents", "INTEGER"],
      ],
    },
    {
      table: "product_reviews",
      columns: [
        ["review_id", "INTEGER PRIMARY KEY"],
        ["product_id", "INTEGER"],
        ["stars", "INTEGER", "Rating from one to five"],
        ["review_text", "TEXT"],
      ],
    },
  ],
  questions: [
    { q: "Where do receipts get sent?", expects: ["customers.email_address"] },
    { q: "customer email", expects: ["customers.email_address"] },
    { q: "How many loyalty points does a customer have?", expects: ["customers.loyalty_points"] },
    { q: "gross price of a product", expects: ["products.unit_price_cents"] },
    { q: "stock in the warehouse", expects: ["products.stock_quantity"] },
    { q: "which products are discontinued", expects: ["products.discontinued_at"] },
    { q: "paymnt method", expects: ["orders.payment_method"] },
    { q: "which country do we ship to", expects: ["orders.shipping_country"] },
    { q: "when was the order placed", expects: ["orders.placed_at"] },
    { q: "parcel tracking numbers", expects: ["shipments.tracking_number"] },
    { q: "who is the carrier of a shipment", expects: ["shipments.carrier_name", "shipments"] },
    { q: "refunds", expects: ["returns", "returns.refunded_amount_cents"] },
    { q: "why did people return goods: reason", expects: ["returns.reason_code"] },
    { q: "star ratings of products", expects: ["product_reviews.stars"] },
    { q: "what did reviewers write", expects: ["product_reviews.review_text", "product_reviews"] },
    { q: "newsletter subscribers", expects: ["customers.newsletter_opt_in"] },
    { q: "discount on each order line", expects: ["order_lines.discount_percent"] },
    { q: "custmers", expects: ["customers"] },
    { q: "deliv", expects: ["shipments.delivered_at"] },
    { q: "what is this database about? garden tools", expects: [""] },
  ],
};

const clinic: SearchSchema = {
  name: "clinic",
  databaseDescription: "A small veterinary clinic",
  tables: [
    {
      table: "PetOwner",
      columns: [
        ["ownerId", "INTEGER PRIMARY KEY"],
        ["firstName", "TEXT"],
        ["lastName", "TEXT"],
        ["phoneNumber", "TEXT"],
        ["homeAddress", "TEXT"],
      ],
    },
    {
      table: "Animal",
      description: "Patients: one row for every pet that was ever seen",
      columns: [
        ["animalId", "INTEGER PRIMARY KEY"],
        ["ownerId", "INTEGER"],
        ["species", "TEXT", "dog, cat, bird or other"],
        ["birthDate", "TEXT"],
        ["weightGrams", "INTEGER"],
        ["microchipCode", "TEXT"],
      ],
    },
    {
      table: "Appointment",
      columns: [
        ["appointmentId", "INTEGER PRIMARY KEY"],
        ["animalId", "INTEGER"],
        ["vetId", "INTEGER"],
        ["scheduledStart", "TEXT"],
        ["cancelledReason", "TEXT", "Empty unless the owner called it off"],
      ],
    },
    {
      table: "Veterinarian",
      description: "Doctors who treat the animals",
      columns: [
        ["vetId", "INTEGER PRIMARY KEY"],
        ["displayName", "TEXT"],
        ["licenseNumber", "TEXT"],
        ["hiredOn", "TEXT"],
      ],
    },
    {
      table: "Prescription",
      columns: [
        ["prescriptionId", "INTEGER PRIMARY KEY"],
        ["appointmentId", "INTEGER"],
        ["medicationName", "TEXT"],
        ["dosageMilligrams", "REAL", "Amount to give at a time"],
        ["timesPerDay", "INTEGER"],
      ],
    },
    {
      table: "LabResult",
      description: "Findings of blood and urine tests",
      columns: [
        ["labResultId", "INTEGER PRIMARY KEY"],
        ["animalId", "INTEGER"],
        ["testName", "TEXT"],
        ["measuredValue", "REAL"],
        ["isAbnormal", "INTEGER"],
      ],
    },
    {
      table: "Invoice",
      columns: [
        ["invoiceId", "INTEGER PRIMARY KEY"],
        ["ownerId", "INTEGER"],
        ["totalCents", "INTEGER"],
        ["paidOn", "TEXT", "Day the money arrived; empty while it is due"],
      ],
    },
  ],
  questions: [
    { q: "phone number of the pet owner", expects: ["PetOwner.phoneNumber"] },
    { q: "home addresses", expects: ["PetOwner.homeAddress"] },
    { q: "patients", expects: ["Animal"] },
    { q: "is it a cat or a dog?", expects: ["Animal.species"] },
    { q: "how heavy is the animal, weight in grams", expects: ["Animal.weightGrams"] },
    { q: "microchip", expects: ["Animal.microchipCode"] },
    { q: "when was the animal born, date of birth", expects: ["Animal.birthDate"] },
    { q: "start of scheduled appointments", expects: ["Appointment.scheduledStart"] },
    { q: "why were appointments cancelled", expects: ["Appointment.cancelledReason"] },
    { q: "who are the doctors", expects: ["Veterinarian"] },
    { q: "vetrinarian", expects: ["Veterinarian"] },
    { q: "license numbers of vets", expects: ["Veterinarian.licenseNumber"] },
    { q: "what medication was prescribed", expects: ["Prescription.medicationName"] },
    { q: "dose amount to give", expects: ["Prescription.dosageMilligrams"] },
    { q: "how often per day", expects: ["Prescription.timesPerDay"] },
    { q: "blood test results", expects: ["LabResult", "LabResult.testName"] },
    { q: "abnormal values", expects: ["LabResult.isAbnormal"] },
    { q: "unpaid invoices where money is still due", expects: ["Invoice.paidOn"] },
    { q: "invoice total", expects: ["Invoice.totalCents"] },
    { q: "prescr", expects: ["Prescription"] },
  ],
};

const projects: SearchSchema = {
  name: "projects",
  databaseDescription: "Work tracker of a software team with time sheets",
  tables: [
    {
      table: "team_members",
      description: "Employees and contractors who can be given work",
      columns: [
        ["id", "INTEGER PRIMARY KEY"],
        ["login", "TEXT", "User name for signing in"],
        ["hourly_rate", "NUMERIC", "What a client is charged for an hour"],
        ["left_company_on", "TEXT"],
      ],
    },
    {
      table: "projects",
      columns: [
        ["id", "INTEGER PRIMARY KEY"],
        ["title", "TEXT"],
        ["client_name", "TEXT"],
        ["budget_hours", "INTEGER"],
        ["deadline", "TEXT"],
      ],
    },
    {
      table: "issues",
      description: "Bugs and feature requests",
      columns: [
        ["id", "INTEGER PRIMARY KEY"],
        ["project_id", "INTEGER"],
        ["assignee_id", "INTEGER", "Member who works on it"],
        ["severity", "TEXT", "blocker, major, minor"],
        ["estimated_minutes", "INTEGER"],
        ["closed_at", "TEXT"],
      ],
    },
    {
      table: "issue_comments",
      columns: [
        ["id", "INTEGER PRIMARY KEY"],
        ["issue_id", "INTEGER"],
        ["author_id", "INTEGER"],
        ["body_markdown", "TEXT"],
      ],
    },
    {
      table: "time_entries",
      description: "Hours that somebody booked on an issue",
      columns: [
        ["id", "INTEGER PRIMARY KEY"],
        ["issue_id", "INTEGER"],
        ["member_id", "INTEGER"],
        ["minutes_spent", "INTEGER"],
        ["billable", "INTEGER", "1 where the client pays for it"],
      ],
    },
    {
      table: "releases",
      description: "Versions shipped to users",
      columns: [
        ["id", "INTEGER PRIMARY KEY"],
        ["project_id", "INTEGER"],
        ["version_tag", "TEXT"],
        ["released_at", "TEXT"],
        ["release_notes", "TEXT"],
      ],
    },
    {
      table: "attachments",
      columns: [
        ["id", "INTEGER PRIMARY KEY"],
        ["issue_id", "INTEGER"],
        ["file_name", "TEXT"],
        ["size_bytes", "INTEGER"],
        ["uploaded_by", "INTEGER"],
      ],
    },
  ],
  questions: [
    { q: "contractors", expects: ["team_members"] },
    { q: "what do we charge per hour", expects: ["team_members.hourly_rate"] },
    { q: "name used to sign in", expects: ["team_members.login"] },
    { q: "people who left the company", expects: ["team_members.left_company_on"] },
    { q: "project deadlines", expects: ["projects.deadline"] },
    { q: "which client is the project for", expects: ["projects.client_name"] },
    { q: "budgeted hours", expects: ["projects.budget_hours"] },
    { q: "open bugs", expects: ["issues"] },
    { q: "feature request", expects: ["issues"] },
    { q: "severty of an issue", expects: ["issues.severity"] },
    { q: "who is an issue assigned to", expects: ["issues.assignee_id"] },
    { q: "estimates in minutes", expects: ["issues.estimated_minutes"] },
    { q: "when were issues closed", expects: ["issues.closed_at"] },
    { q: "comment text in markdown", expects: ["issue_comments.body_markdown"] },
    { q: "how many minutes were spent", expects: ["time_entries.minutes_spent"] },
    { q: "does the client pay for it", expects: ["time_entries.billable"] },
    { q: "shipped versions", expects: ["releases", "releases.version_tag"] },
    { q: "notes of a release", expects: ["releases.release_notes"] },
    { q: "attchment file size", expects: ["attachments.size_bytes"] },
    { q: "who uploaded a file", expects: ["attachments.uploaded_by"] },
  ],
};

export const searchSchemas: readonly SearchSchema[] = [shop, clinic, projects];
