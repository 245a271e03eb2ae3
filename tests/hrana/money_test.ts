// Money on the door for clients of libSQL: what a call costs there, and what it gets when there is none left.
import { assert, assertEquals } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { credit, usage } from "../money/money_world.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";
import { cursor, hranaWorld, resultOf, stateProbe, valuesOf } from "./hrana_world.ts";

const { run, test } = oneStore();
Deno.test("money", run);

test("calls cost on this door what they cost by /query and /batch, and what runs nothing is free", async () => {
  await using app = await startApp();
  const plain = await hranaWorld(app, "plain");
  const door = await hranaWorld(app, "door");
  for (const { setup } of [plain, door]) await setup("CREATE TABLE t (id INTEGER PRIMARY KEY, v)");
  for (const sql of ["INSERT INTO t (v) VALUES (1)", "SELECT * FROM t WHERE id = 1", "SELECT missing"]) {
    await plain.shop.query(sql);
    await door.execute(sql);
  }
  const inserts = ["INSERT INTO t (v) VALUES (2)", "INSERT INTO t (v) VALUES (3)"];
  await plain.shop.batch(inserts.map((sql) => [sql]), { transaction: true });
  resultOf(await door.transaction(inserts));
  // Version 1 of the protocol: a batch is one request, of however many calls it is made.
  const first = (call: string, body: object) =>
    app.request("POST", `/hrana/door/main/v1/${call}`, { token: door.shop.token, body });
  const texts = [
    "BEGIN IMMEDIATE",
    inserts[0],
    "SAVEPOINT s",
    "SELECT count(*) FROM t",
    inserts[1],
    "COMMIT",
  ];
  const batch = { steps: texts.map((sql) => ({ stmt: { sql } })) };
  const requests = [{ type: "batch", batch }, { type: "close" }];
  assertEquals((await plain.pipeline({ baton: null, requests })).status, 200);
  assertEquals((await first("batch", { batch })).status, 200);
  await plain.shop.query(inserts[0] ?? "");
  assertEquals((await first("execute", { stmt: { sql: inserts[0] } })).status, 200);
  await plain.shop.query(inserts[0] ?? "");
  await cursor(door, [{ stmt: { sql: inserts[0] } }, stateProbe]);
  const free = [{ type: "describe", sql: "SELECT 1" }, { type: "store_sql", sql_id: 1, sql: "SELECT 1" }];
  assertEquals((await door.pipeline({ baton: null, requests: [...free, { type: "close" }] })).status, 200);
  await app.deps.query.meter.close();
  const [one] = (await usage(app, plain.shop)).values();
  const [other] = (await usage(app, door.shop)).values();
  assertEquals(other, one);
  assert((one?.rowsWritten ?? 0) >= 3 && (one?.cost ?? 0) > 0);
});

test("without money nothing runs on this door and its status is 402; credit makes it run again at once", async () => {
  await using app = await startApp({ settings: { WELCOME_CREDIT_USD: "0.00003" } });
  const { shop, execute, pipeline, setup } = await hranaWorld(app, "shop");
  await setup("CREATE TABLE t (v)");
  const insert = { type: "execute", stmt: { sql: "INSERT INTO t VALUES (1)" } };
  const send = () => pipeline({ baton: null, requests: [insert, { type: "close" }] });
  let done = 0;
  for (let answer = await send(); answer.status !== 402; answer = await send(), done++) {
    assertEquals(answer.status, 200);
    assert(done < 100);
  }
  assert(done > 2);
  const refused = await send();
  assertEquals([refused.status, refused.body.code], [402, "BALANCE_EXHAUSTED"]);
  assertEquals((await credit(app, shop.slug, { amountUsd: 1, reference: "invoice 1" })).status, 201);
  const count = async () => valuesOf(resultOf(await execute("SELECT count(*) FROM t")));
  assertEquals(await count(), [[String(done)]]);
  // Behind something that has run it is told beside that, and so it is on a stream that a client has to keep.
  const { body: { baton } } = await pipeline({
    requests: [{ type: "store_sql", sql_id: 1, sql: "SELECT 1" }],
  });
  const { meter } = app.deps.query;
  const admit = meter.admit.bind(meter);
  for (
    const [requests, more, told] of [
      [[insert, insert], {}, [null, "BALANCE_EXHAUSTED"]],
      [[insert], { baton }, ["BALANCE_EXHAUSTED"]],
    ] as const
  ) {
    let paid = told.length - 1;
    Object.assign(meter, {
      admit: (...asked: Parameters<typeof admit>) =>
        paid-- > 0 ? admit(...asked) : Promise.reject(new AppError("balance_exhausted")),
    });
    const { status, body: { results } } = await pipeline({ ...more, requests });
    assertEquals([status, results.map(({ error }) => error?.code ?? null)], [200, told]);
  }
  Reflect.deleteProperty(meter, "admit");
  const behind = await pipeline({ requests: [{ type: "close" }, insert] });
  assertEquals(behind.body.results.map(({ error }) => error?.code ?? null), [null, "STREAM_EXPIRED"]);
  assertEquals(await count(), [[String(done + 1)]]);
});
