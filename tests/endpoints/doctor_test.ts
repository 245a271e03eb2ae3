// The doctor sees published endpoints: what they show to everybody, and what they let everybody write.
import { assert, assertEquals } from "@std/assert";
import { endpointWorld, readSpec } from "./endpoint_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("doctor", run);

interface Seen {
  readonly code: string;
  readonly table: string;
  readonly column: string | null;
  readonly suggestion: string;
}

test("the doctor finds secrets that public endpoints show and writes that nothing limits, and its calls help", async () => {
  await using world = await endpointWorld([
    "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT, password_hash TEXT, api_token TEXT)",
    "CREATE VIEW people AS SELECT * FROM users",
    "CREATE VIEW marks AS SELECT id, lower(password_hash) AS mark FROM users",
  ]);
  const query = { input: [], output: "rows" };
  const specs = [
    readSpec({ ...query, slug: "all", sql: "SELECT * FROM users" }),
    readSpec({
      ...query,
      slug: "view",
      sql: "WITH p AS (SELECT * FROM people) SELECT email, api_token FROM p",
    }),
    readSpec({ ...query, slug: "renamed", sql: "SELECT password_hash AS p FROM users" }),
    readSpec({ ...query, slug: "fine", sql: "SELECT email FROM users WHERE api_token IS NOT NULL" }),
    readSpec({
      ...query,
      slug: "counted",
      sql: "SELECT email, count(password_hash), count(*) FROM users GROUP BY 1",
    }),
    readSpec({ ...query, slug: "unnamed", sql: "SELECT count(*), lower(password_hash) FROM users" }),
    readSpec({ ...query, slug: "changed", sql: "SELECT lower(password_hash) AS x FROM users" }),
    readSpec({
      ...query,
      slug: "inner",
      sql:
        "SELECT email, (SELECT substr(u.api_token, 1, 40) FROM users AS u WHERE u.id = a.id) AS y FROM users AS a",
    }),
    readSpec({
      ...query,
      slug: "outer",
      sql: "SELECT (SELECT a.password_hash || email FROM users LIMIT 1) AS y FROM users AS a",
    }),
    readSpec({
      ...query,
      slug: "told",
      sql:
        "SELECT password_hash IS NOT NULL AS has_password, length(api_token) AS l, 1 + count(password_hash) AS n, " +
        "CASE WHEN api_token = ? THEN email END AS found, iif(password_hash, email, 0) AS e, " +
        "(SELECT count(api_token) FROM users) AS tokens, api_token IN (SELECT api_token FROM users) AS known " +
        "FROM users WHERE api_token <> ''",
      input: [{ name: "token", type: "text" }],
    }),
    readSpec({
      ...query,
      slug: "decided",
      sql: "SELECT iif(email = '', 'none', api_token) AS a, nullif(password_hash, email) AS p FROM users",
    }),
    readSpec({ ...query, slug: "marked", sql: "SELECT mark FROM marks" }),
    readSpec({ ...query, slug: "person", sql: "SELECT email FROM people" }),
    readSpec({ ...query, slug: "made", sql: "SELECT hex(email) AS token FROM users" }),
    readSpec({ ...query, slug: "own", sql: "SELECT * FROM users", auth: "session" }),
    readSpec({ ...query, slug: "draft", sql: "SELECT * FROM users" }),
    readSpec({
      ...query,
      slug: "add",
      kind: "mutation",
      method: "POST",
      output: "rows_written",
      sql: "DELETE FROM users",
    }),
    readSpec({
      ...query,
      slug: "daily",
      kind: "mutation",
      method: "POST",
      output: "rows_written",
      rateLimit: { perDay: 10 },
      sql: "DELETE FROM users",
    }),
    readSpec({
      ...{
        slug: "ask",
        kind: "ask",
        method: "POST",
        output: "answer",
        sql: "",
        askConfig: { allowedTables: ["marks", "users"] },
      },
      input: [{ name: "question", type: "text", required: true }],
    }),
  ];
  for (const spec of specs) {
    assertEquals((await world.call("POST", "", spec)).status, 201);
    if (spec["slug"] !== "draft") await world.call("POST", `/${String(spec["slug"])}/publish`);
  }
  const examine = async (): Promise<Seen[]> => {
    const { text } = await world.app.request("GET", `${world.tenant.database.path}/doctor`, {
      token: world.tenant.token,
    });
    const { data: { findings } }: { data: { findings: Seen[] } } = JSON.parse(text);
    return findings.filter(({ code }) => code === "sensitive_column_exposed" || code === "public_mutation");
  };
  const slugOf = ({ suggestion }: Seen) => /endpoints\/([a-z]+)/.exec(suggestion)?.[1];
  const found = await examine();
  assertEquals(found.map((one) => [one.code, slugOf(one), one.column]).sort(), [
    ["public_mutation", "add", null],
    ["sensitive_column_exposed", "all", "api_token"],
    ["sensitive_column_exposed", "all", "password_hash"],
    ["sensitive_column_exposed", "ask", "api_token"],
    ["sensitive_column_exposed", "ask", "password_hash"],
    ["sensitive_column_exposed", "changed", "password_hash"],
    ["sensitive_column_exposed", "decided", "api_token"],
    ["sensitive_column_exposed", "decided", "password_hash"],
    ["sensitive_column_exposed", "inner", "api_token"],
    ["sensitive_column_exposed", "made", "token"],
    ["sensitive_column_exposed", "marked", "password_hash"],
    ["sensitive_column_exposed", "outer", "password_hash"],
    ["sensitive_column_exposed", "renamed", "password_hash"],
    ["sensitive_column_exposed", "unnamed", "password_hash"],
    ["sensitive_column_exposed", "view", "api_token"],
    ["sensitive_column_exposed", "view", "password_hash"],
  ]);
  assertEquals(
    found.filter((one) => slugOf(one) === "ask").map(({ table }) => table),
    ["users", "users"],
  );
  for (let rounds = 0;; rounds++) {
    const [finding] = await examine();
    if (finding === undefined) break;
    assert(rounds < found.length);
    const [method = "", path = "", ...body] = finding.suggestion.split(" ");
    const answer = await world.app.request(method, path, {
      token: world.tenant.token,
      ...(body.length === 0 ? {} : { body: body.join(" ") }),
    });
    assertEquals(answer.status, 200, answer.text);
  }
});

test("a public write is told under the table that its statement names, whatever its triggers write", async () => {
  await using world = await endpointWorld([
    "CREATE TABLE rooms (id INTEGER PRIMARY KEY, name TEXT)",
    "CREATE TABLE changes (id INTEGER PRIMARY KEY, room INTEGER)",
    "CREATE TRIGGER made AFTER INSERT ON rooms BEGIN INSERT INTO changes (room) VALUES (new.id); END",
  ]);
  const sql = "INSERT INTO rooms (name) VALUES (?)";
  const write = {
    ...{ kind: "mutation", method: "POST", output: "rows_written" },
    input: [{ name: "name", type: "text" }],
  };
  const specs = [
    readSpec({ ...write, slug: "add", sql }),
    readSpec({ ...write, slug: "add-one", sql: `${sql} RETURNING 1`, output: "rows" }),
  ];
  for (const spec of specs) {
    assertEquals((await world.call("POST", "", spec)).status, 201);
    await world.call("POST", `/${String(spec["slug"])}/publish`);
  }
  const { text } = await world.app.request("GET", `${world.tenant.database.path}/doctor`, {
    token: world.tenant.token,
  });
  const { data: { findings } }: { data: { findings: Seen[] } } = JSON.parse(text);
  const told = findings.filter(({ code }) => code === "public_mutation").map(({ table }) => table);
  assertEquals(told, ["rooms", "rooms"]);
});

test("a public endpoint that writes rows of users for anybody is told, and not one that asks for a session or adds what is nobody's", async () => {
  await using world = await endpointWorld([
    "CREATE TABLE members (id INTEGER PRIMARY KEY, email TEXT, password_hash TEXT)",
    "CREATE TABLE notes (id INTEGER PRIMARY KEY, member_id INTEGER NOT NULL REFERENCES members(id), text TEXT)",
    "CREATE TABLE requests (id INTEGER PRIMARY KEY, helper INTEGER REFERENCES Members(id), text TEXT)",
    "CREATE TABLE seen (id INTEGER PRIMARY KEY)",
  ]);
  const write = { kind: "mutation", method: "POST", output: "rows_written", rateLimit: { perMin: 5 } };
  const [id, text] = [{ name: "id", type: "integer" }, { name: "text", type: "text" }];
  const specs = [
    readSpec({ ...write, slug: "drop-note", sql: "DELETE FROM notes WHERE id = ?", input: [id] }),
    readSpec({ ...write, slug: "add-note", sql: "INSERT INTO Notes (member_id) VALUES (?)", input: [id] }),
    readSpec({ ...write, slug: "close", sql: "UPDATE requests SET text = '' WHERE id = ?", input: [id] }),
    readSpec({ ...write, slug: "request", sql: "INSERT INTO requests (text) VALUES (?)", input: [text] }),
    readSpec({
      ...{ ...write, slug: "own-note", auth: "session" },
      sql: "DELETE FROM notes WHERE id = :id AND member_id = $user_id",
      input: [id, { name: "$user_id", type: "integer" }],
    }),
    readSpec({ slug: "notes", sql: "SELECT text FROM notes", input: [], output: "rows" }),
    readSpec({
      ...write,
      slug: "both",
      sql: "INSERT INTO seen DEFAULT VALUES; DELETE FROM notes",
      input: [],
    }),
  ];
  for (const spec of specs) {
    const made = await world.call("POST", "", spec);
    assertEquals(made.status, 201, JSON.stringify(made));
    assertEquals((await world.call("POST", `/${String(spec["slug"])}/publish`)).status, 200);
  }
  const examine = async () => {
    const { text } = await world.app.request("GET", `${world.tenant.database.path}/doctor`, {
      token: world.tenant.token,
    });
    const { data: { findings } }: { data: { findings: Seen[] } } = JSON.parse(text);
    return findings.filter(({ code }) => code === "users_rows_open");
  };
  const found = await examine();
  assertEquals(
    found.map((one) => [one.table, one.column, /endpoints\/([a-z-]+)/.exec(one.suggestion)?.[1]]).sort(),
    [
      ["notes", "member_id", "add-note"],
      ["notes", "member_id", "both"],
      ["notes", "member_id", "drop-note"],
      ["requests", "helper", "close"],
    ],
  );
  for (const { suggestion } of found) {
    const [method = "", path = ""] = suggestion.split(" ");
    assertEquals((await world.app.request(method, path, { token: world.tenant.token })).status, 200);
  }
  assertEquals(await examine(), []);
});
