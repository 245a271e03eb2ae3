// The doctor on users tables: passwords that are no hashes, addresses that differ by case alone.
import { assert, assertEquals } from "@std/assert";
import { oneStore } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { examine, follow, make, placesOf } from "./doctor_findings.ts";

const { run, test } = oneStore();
Deno.test("doctor accounts", run);

const HASH = `pbkdf2_sha256$210000$${"A".repeat(22)}==$${"A".repeat(43)}=`;

test("the doctor finds passwords that are no hashes, and what it suggests takes them away", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const table = (name: string) =>
    `CREATE TABLE ${name} (id INTEGER PRIMARY KEY, email TEXT, password_hash TEXT)`;
  await make(tenant, [
    ...["good", "plain", "bcrypt"].map(table),
    ...["good", "plain", "bcrypt"].map((name) => `CREATE UNIQUE INDEX ${name}_e ON ${name} (lower(email))`),
    `INSERT INTO good VALUES (1, 'a', '${HASH}'), (2, 'b', ''), (3, 'c', NULL)`,
    `INSERT INTO plain VALUES (1, 'a', '${HASH}'), (2, 'b', 'hunter2'), (3, 'c', 'pbkdf2_sha256$')`,
    "INSERT INTO bcrypt VALUES (1, 'a', '$2b$12$abcdefghijklmnopqrstuv')",
  ]);
  const examined = await examine(app, tenant);
  assertEquals(placesOf(examined, "plain_password"), ["bcrypt.password_hash", "plain.password_hash"]);
  const found = examined.findings.filter(({ code }) => code === "plain_password");
  assert(found.every(({ severity, message }) => severity === "error" && !message.includes("hunter2")));
  for (const finding of found) await follow(app, tenant, finding);
  assertEquals(rowsOf(await tenant.query("SELECT password_hash FROM plain ORDER BY id")), [[HASH], [""], [
    "",
  ]]);
});

test("the doctor finds addresses that differ by case alone, and advises the index that keeps them one", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await make(tenant, [
    "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT UNIQUE, password_hash TEXT)",
    `INSERT INTO users VALUES (1, 'ada@b.c', ''), (2, 'Ada@b.c', ''), (3, 'bob@b.c', ''), (4, 'ADA@b.c', '')`,
    "CREATE TABLE folded (id INTEGER PRIMARY KEY, email TEXT, password_hash TEXT)",
    "CREATE UNIQUE INDEX folded_email ON folded ( upper( email ) )",
    "CREATE TABLE nocase (id INTEGER PRIMARY KEY, email TEXT COLLATE NOCASE UNIQUE, password_hash TEXT)",
    "CREATE TABLE letters (id INTEGER PRIMARY KEY, email TEXT)",
    'CREATE TABLE blanks (id INTEGER PRIMARY KEY, email TEXT, "e mail" TEXT, password_hash TEXT)',
    'CREATE UNIQUE INDEX blanks_e_mail ON blanks (lower("e mail"))',
  ]);
  const first = await examine(app, tenant);
  assertEquals(placesOf(first, "email_case"), ["blanks.email", "users.email"]);
  for (const finding of first.findings.filter(({ code }) => code === "email_case")) {
    await follow(app, tenant, finding);
  }
  const addresses = rowsOf(await tenant.query("SELECT email FROM users ORDER BY id"));
  assertEquals(addresses, [["ada@b.c"], ["Ada@b.c.2"], ["bob@b.c"], ["ADA@b.c.4"]]);
  const second = (await examine(app, tenant)).findings.filter(({ code }) => code === "email_case");
  assertEquals(second.length, 1);
  for (const finding of second) await follow(app, tenant, finding);
  assertEquals(placesOf(await examine(app, tenant), "email_case"), []);
});
