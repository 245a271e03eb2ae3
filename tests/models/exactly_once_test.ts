// Calls with idempotency keys and steps of plans, at random, repeated, at the same time, with failures and ends of engine
// children in between: each key does one thing once, and everybody who is told 200 is told the same.
import { pause } from "../../lib/core/pause.ts";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { ApiAnswer } from "../testing/call_api.ts";
import { killChildren } from "../testing/engine_children.ts";
import { startApp } from "../testing/start_app.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { type ModelDatabase, modelDatabase } from "./model_database.ts";
import { holds } from "./model_run.ts";

interface KeyedCall {
  readonly header: "idempotency" | "plan";
  readonly key: number;
  readonly what: string;
}

/** What the calls of one moment are; `kill`: engine children end while they run; `open`: then `late` is there. */
interface Moment {
  readonly calls: readonly KeyedCall[];
  readonly kill: boolean;
  readonly open: boolean;
}

/** First answers by their keys. */
type Kept = Map<string, { readonly what: string; readonly text: string }>;

const what = fc.constantFrom("write a", "write b", "batch", "read", "late", "wrong");
const keyed: fc.Arbitrary<KeyedCall> = fc.record({
  header: fc.constantFrom("idempotency", "plan"),
  key: fc.integer({ min: 0, max: 2 }),
  what,
});
const moments: fc.Arbitrary<Moment> = fc.record({
  calls: fc.array(keyed, { minLength: 1, maxLength: 6 }),
  kill: fc.boolean(),
  open: fc.boolean(),
});

Deno.test("a key does one thing once, whatever comes under it, when, and what ends in between", async () => {
  const folder = await Deno.makeTempDir({ prefix: "models_" });
  try {
    await using app = await startApp({ settings: { DATA_DIR: folder } });
    const database = await modelDatabase(app, await app.namespace());
    await rows(database, "CREATE TABLE done (id INTEGER PRIMARY KEY, what TEXT)");
    let cases = 0;
    await holds(fc.array(moments, { minLength: 1, maxLength: 5 }), 8, async (some) => {
      await rows(database, "DELETE FROM done");
      await rows(database, "DROP TABLE IF EXISTS late");
      const kept: Kept = new Map();
      const plan = `case-${++cases}`;
      let opened = false;
      for (const { calls, kill, open } of some) {
        const sent = calls.map((call) => untilAnswered(() => send(database, plan, call)));
        if (kill) await killChildren(folder);
        check(kept, calls, await Promise.all(sent), opened);
        if (open && !opened) await rows(database, "CREATE TABLE IF NOT EXISTS late (what TEXT)");
        opened ||= open;
      }
      const late = opened ? await rows(database, "SELECT what FROM late") : [];
      const found = [...await rows(database, "SELECT what FROM done"), ...late].flat().map(String).sort();
      // Each write of a kept answer is there once, and nothing else is.
      assertEquals(
        found,
        [...kept.values()].map(({ what }) => what).filter((what) => what !== "read").sort(),
      );
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** As a client does that heeds Retry-After: what cannot be answered at this moment is asked again. */
async function untilAnswered(ask: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  for (const startMs = performance.now();;) {
    const answer = await ask();
    if (![409, 503].includes(answer.status) || performance.now() - startMs > 30_000) return answer;
    await pause(5);
  }
}

async function rows(database: ModelDatabase, sql: string): Promise<unknown[][]> {
  return rowsOf(await untilAnswered(() => database.post("query", { sql })));
}

function send(database: ModelDatabase, plan: string, { header, key, what }: KeyedCall): Promise<ApiAnswer> {
  const headers: Record<string, string> = header === "plan"
    ? { "plan-key": plan, "plan-step": `${key}` }
    : { "idempotency-key": `${plan}-${key}` };
  const insert = (table: string) =>
    `INSERT INTO ${table} (what) VALUES ('${what}') RETURNING rowid, random()`;
  switch (what) {
    case "batch": {
      const statements = [{ sql: insert("done") }, { sql: "SELECT random()" }];
      return database.post("batch", { statements, transaction: true }, headers);
    }
    case "read":
      return database.post("query", { sql: "SELECT random()" }, headers);
    case "wrong":
      return database.post("query", { sql: "INSERT INTO done (id, what) VALUES (abs(-9), x)" }, headers);
    default:
      return database.post("query", { sql: insert(what === "late" ? "late" : "done") }, headers);
  }
}

/** Keys of queries and of batches are others; a step of a plan is one whatever is sent. */
function keyOf({ header, key, what }: KeyedCall): string {
  return header === "plan" ? `plan ${key}` : `${what === "batch" ? "batch" : "query"} ${key}`;
}

/** Whoever gets an answer gets that of the first; whoever does not had another request, or one that fails. */
function check(
  kept: Kept,
  calls: readonly KeyedCall[],
  answers: readonly ApiAnswer[],
  opened: boolean,
): void {
  const before = new Map(kept);
  const pairs = calls.flatMap((call, at) => answers.slice(at, at + 1).map((answer) => ({ call, ...answer })));
  for (const { call, status, text } of pairs) {
    if (status === 200 && !kept.has(keyOf(call))) kept.set(keyOf(call), { what: call.what, text });
  }
  for (const { call, status, text } of pairs) {
    const first = kept.get(keyOf(call));
    const fails = call.what === "wrong" || (call.what === "late" && !opened);
    const why = `${JSON.stringify(call)} ${status} ${text}`;
    if (status === 200) assertEquals([fails, first], [false, { what: call.what, text }], why);
    // What fails leaves its key free.
    else if (status === 400) assert(fails && !before.has(keyOf(call)), why);
    else assert(status === 422 && first !== undefined && first.what !== call.what, why);
  }
}
