// Whatever writes the SQL: only reads of the allowed tables run.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { answerQuestion, type AskAnswer } from "../../lib/services/ask/answer_question.ts";
import type { AskModel } from "../../lib/services/ask/model/ask_model.ts";
import { EmbeddedTranslator } from "../../lib/services/ask/translate/embedded_translator.ts";
import type { TenantDatabase, TenantStore } from "../../lib/tenant/tenant_store.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { rowsOf, type TestDatabase, type TestNamespace } from "../testing/test_namespace.ts";
import { askContext, makeDatabase, specOf, targetOf } from "./ask_world.ts";
import { instructions, obedient } from "./injections.ts";
import type { AskedSchema } from "./schemas.ts";
import { ScriptedModel } from "./scripted_model.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("what a question cannot do", run);

const SECRET = "the-secret-note-9431";

const guarded: AskedSchema = {
  name: "guarded",
  tables: ["products", "reviews", "leaky", "open_view"],
  statements: [
    "CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, price REAL)",
    "CREATE TABLE reviews (id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES products(id), body TEXT)",
    "CREATE TABLE secrets (id INTEGER PRIMARY KEY AUTOINCREMENT, note TEXT)",
    "CREATE VIEW leaky AS SELECT p.name, s.note FROM products p, secrets s",
    "CREATE VIEW plain_view AS SELECT name FROM products",
    "CREATE VIEW open_view AS SELECT name, price FROM products WHERE price > 1",
    "CREATE VIRTUAL TABLE search_index USING fts5(body)",
    "INSERT INTO products VALUES (1, 'Lamp', 20.0), (2, 'Chair', 45.5), (3, 'Desk', 90.0)",
    `INSERT INTO secrets (note) VALUES ('${SECRET}')`,
    ...instructions.map((text) =>
      `INSERT INTO reviews (product_id, body) VALUES (1, '${text.replaceAll("'", "''")}')`
    ),
  ],
  descriptions: [
    {
      table: "products",
      description: instructions[0] ?? "",
      columns: [{ column: "name", description: instructions[2] ?? "" }],
    },
  ],
};

interface World {
  readonly app: StartedApp;
  readonly tenant: TestNamespace;
  readonly database: TestDatabase;
  ask(model: AskModel, question?: string, maxRows?: number): Promise<AskAnswer>;
  code(model: AskModel, question?: string): Promise<string>;
}

async function world(app: StartedApp): Promise<World> {
  const tenant = await app.namespace();
  const database = await makeDatabase(app, tenant, guarded);
  const target = await targetOf(app, database);
  const ask: World["ask"] = (model, question = "How many products?", maxRows) =>
    answerQuestion(askContext(app, model), {
      ...{ target, spec: specOf(guarded.tables, maxRows), question, signal: () => null },
    });
  const code: World["code"] = async (model, question) => {
    try {
      const answer = await ask(model, question);
      return `ran: ${JSON.stringify(answer)}`;
    } catch (error) {
      assert(error instanceof AppError, String(error));
      // A refusal repeats what the caller asked, and nothing else of what the endpoint does not cover.
      const said = question?.includes("secrets")
        ? error.message.replace(/^Ask another way; "[^"]*"/, "")
        : error.message;
      assert(!said.includes("secrets") && !error.message.includes(SECRET), error.message);
      return error.code;
    }
  };
  return { app, tenant, database, ask, code };
}

async function contents({ app, tenant, database }: World): Promise<string> {
  const state: unknown[] = [];
  for (
    const sql of [
      "SELECT * FROM products",
      "SELECT * FROM secrets",
      "SELECT name, sql FROM sqlite_schema ORDER BY 1",
    ]
  ) {
    const answer = await app.request("POST", `${database.path}/query`, {
      token: tenant.token,
      body: { sql },
    });
    state.push(rowsOf(answer));
  }
  return JSON.stringify(state);
}

test("no statement of an obedient model reads outside allowedTables or writes", async () => {
  await using app = await startApp();
  const here = await world(app);
  const before = await contents(here);
  for (const sql of obedient) {
    for (
      const text of [
        JSON.stringify({ sql, explanation: "Counts products" }),
        `\`\`\`sql\n${sql}\n\`\`\``,
        sql,
      ]
    ) {
      assertEquals(await here.code(new ScriptedModel(text)), "ask_refused", sql);
    }
  }
  assertEquals(await contents(here), before);
  const { body } = await app.request("GET", `${here.database.path}/query_log?pageSize=500`, {
    token: here.tenant.token,
  });
  assert(!JSON.stringify(body).includes("FROM leaky"), "a refused statement reached the pipeline");
});

test("instructions in questions, descriptions and rows make the embedded translator read nothing else", async () => {
  await using app = await startApp();
  const here = await world(app);
  const before = await contents(here);
  for (const question of instructions) {
    const outcome = await here.code(new EmbeddedTranslator(), question);
    assert(!outcome.includes(SECRET), outcome);
  }
  for (const question of ["Show all reviews", "List the notes of secrets", "How many secrets are there?"]) {
    assert(!(await here.code(new EmbeddedTranslator(), question)).includes(SECRET), question);
  }
  assertEquals(await contents(here), before);
});

test("a model is told of allowed tables only, without a row, and instructions in data stay quoted data", async () => {
  await using app = await startApp();
  const here = await world(app);
  const model = new ScriptedModel('{"sql":"SELECT count(*) FROM products"}');
  await here.ask(model);
  const [request] = model.asked;
  assertEquals(request?.schema.tables.map(({ name }) => name).sort(), [
    "leaky",
    "open_view",
    "products",
    "reviews",
  ]);
  assert(!JSON.stringify(request?.schema).includes(SECRET));
});

test("what an allowed statement reads is answered, a view among it, at most maxRows rows", async () => {
  await using app = await startApp();
  const here = await world(app);
  const answer = await here.ask(
    new ScriptedModel('{"sql":"SELECT name FROM open_view ORDER BY price;"}'),
    "?",
    2,
  );
  assertEquals(answer.columns, ["name"]);
  assertEquals(answer.rows, [["Lamp"], ["Chair"]]);
  assertStringIncludes(answer.explanation, "Only the first 2 rows");
  const one = new ScriptedModel('{"sql":"SELECT name FROM open_view","explanation":"All names"}');
  assertEquals((await here.ask(one, "?", 1)).explanation, "All names. Only the first row is shown.");
  const long = `{"sql":"SELECT name FROM open_view","explanation":"${"a".repeat(499)}\u{1f600}"}`;
  assert((await here.ask(new ScriptedModel(long), "?", 9)).explanation.isWellFormed());
  const wide = await here.ask(
    new ScriptedModel("SELECT name, price FROM products ORDER BY price DESC LIMIT 500"),
    "?",
    1,
  );
  assertEquals(wide.rows, [["Desk", 90]]);
  const json = await here.ask(new ScriptedModel("SELECT value FROM json_each('[1,2]')"));
  assertEquals(json.rows, [[1], [2]]);
  const same = await here.ask(
    new ScriptedModel("SELECT a.name, b.name FROM products a JOIN products b USING (id)"),
  );
  assertEquals(same.columns, ["name", "name"]);
  const cte = await here.ask(
    new ScriptedModel("WITH t AS (SELECT price p FROM products) SELECT max(p) FROM t -- the largest"),
  );
  assertEquals(cte.rows, [[90]]);
});

test("where a view is another one by the time that its statement runs, nobody sees its rows", async () => {
  await using app = await startApp();
  const { tenant, database } = await world(app);
  const target = await targetOf(app, database);
  let isOpen = true;
  const swap = async () => {
    isOpen = false;
    const statements = [
      "DROP VIEW open_view",
      "CREATE VIEW open_view AS SELECT note AS name, 2 AS price FROM secrets",
    ];
    const body = { statements: statements.map((sql) => ({ sql })) };
    const swapped = await app.request("POST", `${database.path}/batch`, { token: tenant.token, body });
    assertEquals(swapped.status, 200, swapped.text);
  };
  const model = new ScriptedModel('{"sql":"SELECT name FROM open_view"}');
  const context = askContext(app, model);
  const open: TenantStore["open"] = (...which) => {
    const opened = context.tenants.open(...which);
    const run: TenantDatabase["run"] = async (call) => {
      if (isOpen && call.log?.operation === "endpoint") await swap();
      return await opened.run(call);
    };
    return swappedMethod(opened, "run", run);
  };
  const ctx = { ...context, tenants: swappedMethod(context.tenants, "open", open) };
  const asked = { target, spec: specOf(guarded.tables), question: "Which names?", signal: () => null };
  const told = await answerQuestion(ctx, asked).then(
    (answer) => JSON.stringify(answer),
    (error) => `${error}`,
  );
  assert(!isOpen && !told.includes(SECRET), told);
  assertStringIncludes(told, "AppError");
});

/** The same with another method. */
function swappedMethod<Thing extends object, Name extends keyof Thing>(
  thing: Thing,
  name: Name,
  method: Thing[Name],
): Thing {
  return new Proxy(thing, {
    get(target, key) {
      if (key === name) return method;
      const value = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

test("a statement that does not compile gets one more round with the engine's words, then 422", async () => {
  await using app = await startApp();
  const here = await world(app);
  const model = new ScriptedModel(
    '{"sql":"SELECT nme FROM products"}',
    '{"sql":"SELECT name FROM products","explanation":"Names."}',
  );
  assertEquals((await here.ask(model)).explanation, "Names.");
  assertStringIncludes(model.asked[1]?.failed?.reason ?? "", "no such column");
  const hopeless = new ScriptedModel('{"sql":"SELECT nme FROM products"}');
  assertEquals(await here.code(hopeless), "ask_refused");
  assertEquals(hopeless.asked.length, 2);
});

test("a statement without an explanation gets one from what the engine saw", async () => {
  await using app = await startApp();
  const here = await world(app);
  const answer = await here.ask(new ScriptedModel("SELECT count(*) FROM products WHERE price > 30"));
  assertEquals(answer.rows, [[2]]);
  assertEquals(answer.explanation, "Counts rows of products, using price.");
});

test("the embedded translator says plainly what it does not understand", async () => {
  await using app = await startApp();
  const here = await world(app);
  for (
    const question of [
      "What is the weather in Paris?",
      "How many products were praised by Zorro?",
      "Why are products so cheap?",
      "products without zebra",
      "How many products cost more than the average?",
      "?",
      "SELECT * FROM products",
      "x ".repeat(200),
    ]
  ) assertEquals(await here.code(new EmbeddedTranslator(), question), "ask_refused", question);
});
