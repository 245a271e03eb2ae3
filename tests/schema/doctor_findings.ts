// What the doctor answers, and running what it suggests exactly as it stands.
import { assert, assertEquals } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import type { StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";

export interface Finding {
  readonly code: string;
  readonly severity: string;
  readonly table: string;
  readonly column: string | null;
  readonly message: string;
  readonly suggestion: string;
}

export interface Doctor {
  readonly findings: readonly Finding[];
  readonly tablesScanned: number;
  readonly generatedAt: string;
}

/** Something for every code that a schema can show. */
export const troubled = [
  "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, status TEXT)",
  "CREATE TABLE events (happened TEXT, note TEXT, CHECK (note <> ''))",
  "CREATE INDEX events_happened ON events(happened)",
  "CREATE TRIGGER events_kept BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'kept'); END",
  "CREATE VIEW latest AS SELECT * FROM events",
  "CREATE TABLE codes (code TEXT NOT NULL UNIQUE, meaning TEXT)",
  "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), total INTEGER)",
  "CREATE TABLE invoices (id INTEGER PRIMARY KEY, total TEXT, order_id INTEGER REFERENCES orders(id))",
  "CREATE INDEX invoices_order ON invoices(order_id)",
  "CREATE INDEX invoices_order_total ON invoices(order_id, total)",
  "CREATE UNIQUE INDEX invoices_id ON invoices(id)",
  'CREATE TABLE "order" (id INTEGER PRIMARY KEY, "group" TEXT)',
  "CREATE TABLE loose (id INTEGER PRIMARY KEY, la, lb DEFAULT (1 + 2) NOT NULL, lc)",
  "CREATE TABLE lost (id INTEGER PRIMARY KEY, gone_id INTEGER CONSTRAINT fk REFERENCES customer(id) " +
  "ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED NOT NULL, x INTEGER, y INTEGER, FOREIGN KEY (x) REFERENCES nowhere)",
  "CREATE TABLE astray (id INTEGER PRIMARY KEY, nick TEXT REFERENCES customers(nope))",
  "CREATE TABLE pairs (a INTEGER, b INTEGER, n INTEGER, PRIMARY KEY (a, b))",
  "INSERT INTO pairs VALUES (1, 1, 7), (1, 2, 8)",
  "CREATE TABLE halves (id INTEGER PRIMARY KEY, a INTEGER REFERENCES pairs(a), n INTEGER REFERENCES pairs(n))",
  "CREATE TABLE tickets (id INTEGER PRIMARY KEY, weight INTEGER, price REAL NOT NULL, seen DATE)",
  "CREATE TABLE serials (serial_no SERIAL PRIMARY KEY, serial_text TEXT NOT NULL)",
  "INSERT INTO serials VALUES (7, 'a'), (NULL, 'b'), (NULL, 'c')",
  "CREATE TABLE words (word_no BIGINT PRIMARY KEY, word_text TEXT)",
  "INSERT INTO words VALUES ('one', 'a')",
  "INSERT INTO events VALUES ('mon', 'x'), ('tue', 'y')",
  "INSERT INTO loose VALUES (5, 'text', 1, NULL), (9, 2, 2.5, 3)",
  "INSERT INTO tickets VALUES (1, 10, 1.5, 'monday'), (2, 'heavy', 'free', 3)",
  "PRAGMA foreign_keys = OFF",
  "INSERT INTO customers VALUES (1, 'Ada', NULL)",
  "INSERT INTO orders VALUES (1, 1, 10), (2, 99, 20)",
];

/** One examination of the namespace's database, as a reader. */
export async function examine(app: StartedApp, { database, token }: TestNamespace): Promise<Doctor> {
  const answer = await app.request("GET", `${database.path}/doctor`, { token });
  assertEquals(answer.status, 200, answer.text);
  return answer.body.data as Doctor;
}

/** A suggestion is one statement for `query`, or `METHOD path body`. */
export function runSuggestion(
  app: StartedApp,
  tenant: TestNamespace,
  suggestion: string,
): Promise<ApiAnswer> {
  const call = /^(GET|POST|PUT|PATCH|DELETE) (\/\S+)(?: (\{[^]*\}))?$/.exec(suggestion);
  if (!call) return tenant.query(suggestion);
  const [, method = "", path = "", body] = call;
  return app.request(method, path, { token: tenant.token, ...(body === undefined ? {} : { body }) });
}

/** Runs what the finding suggests and holds the doctor to it: the finding must be gone. */
export async function follow(app: StartedApp, tenant: TestNamespace, finding: Finding): Promise<void> {
  const ran = await runSuggestion(app, tenant, finding.suggestion);
  assertEquals(ran.status, 200, `${JSON.stringify(finding)}: ${ran.text}`);
  const same = (await examine(app, tenant)).findings.filter((one) =>
    one.code === finding.code && one.message === finding.message
  );
  assertEquals(same, [], `${finding.suggestion} did not help`);
}

/** Findings of a code as `table.column`. */
export function placesOf({ findings }: Doctor, code: string): string[] {
  return findings.filter((one) => one.code === code)
    .map(({ table, column }) => column === null ? table : `${table}.${column}`);
}

/** Makes the schema, one statement after the other. */
export async function make(tenant: TestNamespace, statements: readonly string[]): Promise<void> {
  const made = await tenant.batch(statements.map((sql) => [sql] as const));
  assert(made.status === 200, made.text);
}
