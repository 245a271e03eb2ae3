// What query and batch take: one statement a text, up to a hundred of them, and no field that is not known.
import { assertEquals, assertMatch } from "@std/assert";
import { rowsOf } from "../testing/test_namespace.ts";
import { startApp } from "../testing/start_app.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("what query and batch take", run);

test("query without sql is 400 and names the field", async () => {
  await using app = await startApp();
  const { token, database } = await app.namespace();
  for (const body of [{}, { params: [] }, { sql: null }, { sql: 1 }]) {
    const answer = await app.request("POST", `${database.path}/query`, { token, body });
    assertEquals([answer.status, answer.body.code], [400, "validation_failed"]);
    assertEquals(answer.body.issues?.map(({ path }) => path), ["sql"]);
  }
});

test("a body that is no JSON is 400 invalid_json and its text is not repeated", async () => {
  await using app = await startApp();
  const { token, database } = await app.namespace();
  for (const body of ["", "{", '{"sql":"SELECT hunter2"', "SELECT hunter2", "null,"]) {
    for (const operation of ["query", "batch"]) {
      const answer = await app.request("POST", `${database.path}/${operation}`, { token, body });
      assertEquals([answer.status, answer.body.code], [400, "invalid_json"], body);
      assertEquals(answer.text.includes("hunter2"), false);
    }
  }
});

test("an unknown field is refused with its own path and nothing runs", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  const insert = { sql: "INSERT INTO t VALUES (1)" };
  const bodies = [
    ["query", { ...insert, readOnly: true }, ["readOnly"]],
    ["batch", { statements: [insert], transactional: true }, ["transactional"]],
    ["batch", { statements: [insert, { ...insert, dryRun: 1 }] }, ["statements[1].dryRun"]],
  ] as const;
  for (const [operation, body, paths] of bodies) {
    const answer = await app.request("POST", `${tenant.database.path}/${operation}`, {
      token: tenant.token,
      body,
    });
    assertEquals([answer.status, answer.body.error], [400, "Validation failed"]);
    assertEquals(answer.body.issues?.map(({ path }) => path), [...paths]);
  }
  assertEquals(rowsOf(await tenant.query("SELECT count(*) FROM t")), [[0]]);
});

test("a misspelt query parameter is refused by tables and query_log", async () => {
  await using app = await startApp();
  const { token, database } = await app.namespace();
  for (
    const path of ["tables?x=1", "query_log?stauts=ok", "query_log?status=bad", "query_log?pageSize=501"]
  ) {
    const answer = await app.request("GET", `${database.path}/${path}`, { token });
    assertEquals([answer.status, answer.body.code], [400, "validation_failed"], path);
    assertMatch(answer.body.issues?.[0]?.path ?? "", /^(x|stauts|status|pageSize)$/);
  }
});

test("a text with several statements is refused whole, a trailing semicolon and comments are fine", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  for (
    const sql of ["INSERT INTO t VALUES (1); DELETE FROM t", "SELECT 1;;SELECT 2", "SELECT 1; /**/ SELECT 2"]
  ) {
    const answer = await tenant.query(sql);
    assertEquals([answer.status, answer.body.code], [400, "multiple_statements"], sql);
  }
  for (const sql of [" SELECT 1 ; ", "-- why\nSELECT 1 -- end", "/* a */ SELECT 1; /* b */"]) {
    assertEquals((await tenant.query(sql)).status, 200, sql);
  }
  assertEquals(rowsOf(await tenant.query("SELECT count(*) FROM t")), [[0]]);
});

test("a text without a statement is no_statement", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  for (const sql of ["", " \n ", ";", "-- nothing", "/* nothing */ ;"]) {
    const answer = await tenant.query(sql);
    assertEquals([answer.status, answer.body.code], [400, "no_statement"], JSON.stringify(sql));
  }
  const batch = await tenant.batch([["SELECT 1"], [";"]]);
  assertEquals([batch.status, batch.body.code, batch.body.failedIndex], [400, "no_statement", 1]);
});

test("a batch takes 1 to 100 statements", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const batchOf = (count: number) => tenant.batch(Array.from({ length: count }, (_, at) => [`SELECT ${at}`]));
  const full = await batchOf(100);
  assertEquals(full.status, 200, full.text);
  assertEquals(full.body.meta?.statementCount, 100);
  assertEquals(rowsOf(full, 99), [[99]]);
  for (const count of [0, 101]) {
    const answer = await batchOf(count);
    assertEquals([answer.status, answer.body.code], [400, "validation_failed"], String(count));
    assertEquals(answer.body.issues?.map(({ path }) => path), ["statements"]);
  }
});

test("a name is one line of characters, and other texts of people hold only characters", async () => {
  await using app = await startApp();
  const { token, slug, database } = await app.namespace();
  const management = `/api/namespaces/${slug}`;
  const endpoint = { slug: "now", kind: "query", method: "GET", sql: "SELECT 1", input: [], output: "rows" };
  const names: readonly (readonly [path: string, body: object, field: string])[] = [
    [`${management}/databases`, { slug: "other" }, "name"],
    [`${management}/tokens`, { role: "read" }, "name"],
    [`${management}/databases/main/endpoints`, endpoint, "name"],
  ];
  const refused = async (path: string, body: object, field: string, message: string) => {
    // JSON.stringify() writes half a pair as an escape, as a client may.
    const answer = await app.request("POST", path, { token, body: JSON.stringify(body) });
    assertEquals([answer.status, answer.body.issues], [400, [{ path: field, message }]], answer.text);
  };
  for (const name of ["a\ud800", "a\u0000b", "a\nb", "\u001b[2J", "a\u0085b"]) {
    const message = "Remove line breaks, other control characters and lone surrogates";
    for (const [path, body, field] of names) await refused(path, { ...body, [field]: name }, field, message);
  }
  const texts: readonly (readonly [path: string, body: object, field: string])[] = [
    [`${database.path}/claim_branch`, {}, "purpose"],
    [`${management}/databases/main/endpoints`, { ...endpoint, name: "Now" }, "description"],
    [`${management}/databases/main/rules`, { tableGlob: "*", effect: "deny" }, "note"],
  ];
  for (const [path, body, field] of texts) {
    for (const text of ["a\ud800", "a\u0000b"]) {
      await refused(path, { ...body, [field]: text }, field, "Remove U+0000 and lone surrogates");
    }
    const answer = await app.request("POST", path, {
      token,
      body: { ...body, [field]: "one\nother \u{1f600}" },
    });
    assertEquals(answer.status, 201, answer.text);
  }
});

test("who deletes without confirming is told what to send", async () => {
  await using app = await startApp();
  const { token, slug } = await app.namespace();
  const databases = `/api/namespaces/${slug}/databases`;
  const answer = await app.request("DELETE", `${databases}/main`, { token });
  const message = "Add this field with the slug of what is deleted, once more";
  assertEquals([answer.status, answer.body.issues], [400, [{ path: "confirm", message }]], answer.text);
});

test("a cap that is less than a balance counts is refused, not taken for none", async () => {
  await using app = await startApp();
  const { token, slug } = await app.namespace();
  for (const [monthlyCapUsd, status] of [[1e-10, 400], [1e-9, 200], [0, 200]]) {
    const answer = await app.request("PATCH", `/api/namespaces/${slug}`, { token, body: { monthlyCapUsd } });
    assertEquals(answer.status, status, answer.text);
  }
});

test("of hundreds of thousands of wrong elements in one body, 50 are told", async () => {
  await using app = await startApp();
  const { token, slug, database } = await app.namespace();
  const thirty = `[${Array(30).fill("{}").join(",")}]`;
  const many = (element: string) => `[${Array(9000).fill(element).join(",")}]`;
  const steps = many(`{"stmt":{"sql":"SELECT 1","args":${thirty}}}`);
  const bodies = [
    [
      "POST",
      `/hrana/${slug}/${database.slug}/v3/pipeline`,
      `{"requests":[{"type":"batch","batch":{"steps":${steps}}}]}`,
    ],
    ["PUT", `${database.path}/describe`, `{"tables":${many(`{"table":"t","columns":${thirty}}`)}}`],
  ] as const;
  for (const [method, path, body] of bodies) {
    const answer = await app.request(method, path, { token, body });
    assertEquals([answer.status, answer.body.issues?.length], [400, 50], answer.text.slice(0, 300));
  }
});

test("a statement above a million characters is refused by its length", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const answer = await tenant.query(`SELECT '${"x".repeat(1_000_000)}'`);
  assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, "sql"]);
});

test("a body above 8 MiB is 413", async () => {
  await using app = await startApp();
  const { token, database } = await app.namespace();
  const body = JSON.stringify({ sql: "SELECT 1", params: ["x".repeat(9_000_000)] });
  for (const headers of [{ "content-length": String(body.length) }, {}]) {
    const answer = await app.request("POST", `${database.path}/query`, { token, body, headers });
    assertEquals([answer.status, answer.body.code], [413, "payload_too_large"]);
  }
});
