// The rows of the table "What differs" of the documentation, asked of this door and, where it answers soon, of a real sqld.
import { assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { transactionLimits } from "../../lib/core/limits_of_transactions.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { startApp } from "../testing/start_app.ts";
import { startSqld } from "../testing/sqld.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { type DoorAnswer, hranaWorld, wholeBatch } from "./hrana_world.ts";

/** Sends a pipeline with the requests; the first result, or its error. */
type Ask = (...requests: readonly unknown[]) => Promise<DoorAnswer["body"]>;

interface Difference {
  readonly ask: (ask: Ask) => Promise<unknown>;
  /** Undefined: it would take too long to see. */
  readonly sqld?: unknown;
  readonly here: unknown;
}

const execute = (sql: string) => ({ type: "execute", stmt: { sql } });
const batch = (...statements: readonly string[]) => ({ type: "batch", batch: wholeBatch(statements) });
const codes = ({ results }: DoorAnswer["body"]) => results.map(({ error }) => error?.code ?? "ok");
const CREATE = execute("CREATE TABLE IF NOT EXISTS d (v UNIQUE)");

/** By the first column of the table. */
const differences: Readonly<Record<string, Difference>> = {
  "failed batch": {
    ask: async (ask) => {
      const { results: [, failed] } = await ask(
        CREATE,
        batch("INSERT INTO d VALUES ('once')", "INSERT INTO d VALUES ('once')"),
      );
      return failed?.response?.result?.step_results.map((result) => result?.affected_row_count);
    },
    // BEGIN, the insert that was undone, the one that failed, COMMIT, ROLLBACK.
    sqld: [0, 1, undefined, undefined, 0],
    here: [0, 0, undefined, undefined, 0],
  },
  "a foreign key that is `DEFERRED`, and broken at the end of a batch": {
    ask: async (ask) => {
      const { results: [, , , failed] } = await ask(
        execute("CREATE TABLE IF NOT EXISTS up (id INTEGER PRIMARY KEY)"),
        execute(
          "CREATE TABLE IF NOT EXISTS down (up REFERENCES up DEFERRABLE INITIALLY DEFERRED)",
        ),
        CREATE,
        batch("INSERT INTO down VALUES (1)", "INSERT INTO d VALUES ('behind it')"),
      );
      return failed?.response?.result?.step_errors.map((error) => error?.code ?? null);
    },
    // BEGIN, the insert that broke it, another one, COMMIT, ROLLBACK.
    sqld: [null, null, null, "SQLITE_CONSTRAINT", null],
    here: [null, "SQLITE_CONSTRAINT", null, null, null],
  },
  "`OR FAIL` outside of a transaction": {
    ask: async (ask) => {
      const { results } = await ask(
        CREATE,
        execute("INSERT OR FAIL INTO d VALUES ('kept'), ('kept')"),
        execute("SELECT count(*) FROM d WHERE v = 'kept'"),
      );
      return results[2]?.response?.result?.rows[0]?.map(({ value }) => value);
    },
    sqld: ["1"],
    here: ["0"],
  },
  "`TRANSACTION READONLY`": {
    ask: async (ask) =>
      codes(
        await ask(
          CREATE,
          execute("BEGIN TRANSACTION READONLY"),
          execute("INSERT INTO d VALUES ('w')"),
          execute("ROLLBACK"),
        ),
      )[2],
    sqld: "ok",
    here: "SQLITE_READONLY",
  },
  "`ATTACH`, `VACUUM`, temporary objects, most PRAGMAs": {
    ask: async (ask) => {
      const answers = [];
      for (const sql of ["CREATE TEMP TABLE tt (a)", "PRAGMA cache_size = 10", "VACUUM"]) {
        answers.push(codes(await ask(execute("SELECT 1"), execute(sql))));
      }
      return answers;
    },
    sqld: Array(3).fill(["ok", "SQL_PARSE_ERROR"]),
    here: Array(3).fill(["STATEMENT_REFUSED", "STATEMENT_REFUSED"]),
  },
  "`PRAGMA foreign_keys=OFF`": {
    ask: async (ask) => codes(await ask(execute("PRAGMA foreign_keys=OFF"))),
    sqld: ["ok"],
    here: ["VALIDATION_FAILED"],
  },
  "a rebuilt table, foreign keys on": {
    ask: async (ask) => {
      const tables = ["owned (id INTEGER PRIMARY KEY)", "owner (o REFERENCES owned (id) ON DELETE CASCADE)"];
      await ask(
        ...tables.map((table) => execute(`CREATE TABLE ${table}`)),
        execute("PRAGMA foreign_keys=ON"),
      );
      await ask(execute("INSERT INTO owned VALUES (1)"), execute("INSERT INTO owner VALUES (1)"));
      await ask(
        execute("PRAGMA foreign_keys=ON"),
        batch(
          "CREATE TABLE copy (id INTEGER PRIMARY KEY)",
          "INSERT INTO copy SELECT id FROM owned",
          "DROP TABLE owned",
          "ALTER TABLE copy RENAME TO owned",
        ),
      );
      const { results: [left] } = await ask(execute("SELECT count(*) FROM owner"));
      return left?.response?.result?.rows[0]?.[0]?.value;
    },
    sqld: "0",
    here: "1",
  },
  "lists of tables": {
    ask: async (ask) => {
      const own = "name LIKE '\\_service%' ESCAPE '\\'";
      const { results } = await ask(
        execute("CREATE TABLE IF NOT EXISTS listed (a)"),
        execute(`SELECT count(*) FROM sqlite_schema WHERE ${own}`),
        execute("SELECT count(*) FROM _service_meta_query_log"),
      );
      return [results[1]?.response?.result?.rows[0]?.[0]?.value, results[2]?.error?.code ?? "ok"];
    },
    sqld: ["0", "SQLITE_UNKNOWN"],
    here: ["0", "ok"],
  },
  "`file` in `PRAGMA database_list`": {
    ask: async (ask) => {
      const { results: [list] } = await ask(execute("PRAGMA database_list"));
      const { cols = [], rows = [] } = list?.response?.result ?? {};
      return [cols.map(({ name }) => name), rows.map((row) => row.map(({ value }) => value || null))]
        .map((all) => JSON.stringify(all).replace(/"\/[^"]*"/, '"its path"'));
    },
    sqld: ['["seq","name","file"]', '[["0","main","its path"]]'],
    here: ['["seq","name","file"]', '[["0","main",null]]'],
  },
  "text with U+0000 as a value": {
    ask: async (ask) => {
      const args = [{ type: "text", value: "a\0b" }];
      return codes(await ask({ type: "execute", stmt: { sql: "SELECT ?", args } }));
    },
    sqld: ["ok"],
    here: ["ARGS_INVALID"],
  },
  "`ALTER TABLE … ALTER COLUMN … TO …`": {
    ask: async (ask) =>
      codes(
        await ask(
          execute("CREATE TABLE altered (a)"),
          execute("ALTER TABLE altered ALTER COLUMN a TO a TEXT"),
        ),
      ),
    sqld: ["ok", "ok"],
    here: ["ok", "SQL_PARSE_ERROR"],
  },
  "vectors: `vector32()`, `vector_distance_cos()`, `libsql_vector_idx()`": {
    ask: async (ask) =>
      codes(
        await ask(
          execute("CREATE TABLE placed (id INTEGER PRIMARY KEY, at F32_BLOB(2))"),
          execute("INSERT INTO placed (at) VALUES (x'0000803f00000040')"),
          execute("SELECT id FROM placed ORDER BY vector_distance_cos(at, vector32('[1,2]'))"),
        ),
      ),
    sqld: ["ok", "ok", "ok"],
    here: Array(3).fill("STATEMENT_REFUSED"),
  },
  "`REGEXP`": {
    ask: async (ask) => codes(await ask(execute("SELECT 'a' REGEXP 'a'"))),
    sqld: ["ok"],
    here: ["SQL_INPUT_ERROR"],
  },
  "name of an unnamed column `SELECT :a`": {
    ask: async (ask) => {
      const stmt = { sql: "SELECT :a", named_args: [{ name: "a", value: { type: "text", value: "x" } }] };
      const { results: [result] } = await ask({ type: "execute", stmt });
      return result?.response?.result?.cols.map(({ name }) => name);
    },
    sqld: [":a"],
    here: ["?1"],
  },
  "`last_insert_rowid` of an INSERT that changed nothing": {
    ask: async (ask) => {
      const insert = execute("INSERT OR IGNORE INTO d VALUES ('same')");
      const { results: [, , again] } = await ask(CREATE, insert, insert);
      return typeof again?.response?.result?.last_insert_rowid;
    },
    sqld: "string",
    here: "object",
  },
  "`last_insert_rowid` of an upsert that has updated": {
    ask: async (ask) => {
      const add = "INSERT INTO upserted VALUES (1000000) ON CONFLICT (id) DO UPDATE SET id = excluded.id";
      const { results } = await ask(
        execute("CREATE TABLE IF NOT EXISTS upserted (id INTEGER PRIMARY KEY)"),
        ...[add, add].map(execute),
      );
      return results.slice(1).map(({ response }) => response?.result?.last_insert_rowid === "1000000");
    },
    sqld: [true, true],
    here: [true, false],
  },
  "`SELECT last_insert_rowid()`, `changes()` behind a write": {
    ask: async (ask) => {
      const { results } = await ask(
        execute("CREATE TABLE IF NOT EXISTS added (id INTEGER PRIMARY KEY)"),
        execute("INSERT OR REPLACE INTO added VALUES (7)"),
        execute("SELECT last_insert_rowid(), changes()"),
      );
      return results[2]?.response?.result?.rows[0]?.map(({ value }) => value);
    },
    sqld: ["7", "1"],
    here: ["0", "0"],
  },
  "`SAVEPOINT` without `BEGIN`": {
    ask: async (ask) => codes(await ask(execute("SAVEPOINT s"), execute("RELEASE s"))),
    sqld: ["ok", "ok"],
    here: ["SQLITE_UNKNOWN", "SQLITE_UNKNOWN"],
  },
  "infinities": {
    ask: async (ask) => {
      const { results: [result] } = await ask(execute("SELECT 9e999"));
      return result?.response?.result?.rows[0]?.[0]?.value;
    },
    sqld: null,
    here: Infinity,
  },
  "idle streams": {
    ask: async (ask) => typeof (await ask(execute("SELECT 1"))).baton,
    sqld: "string",
    here: "object",
  },
};

Deno.test("what differs from sqld does so on both sides", async (t) => {
  await using app = await startApp();
  const { pipeline } = await hranaWorld(app, "acme");
  const here: Ask = async (...requests) => (await pipeline({ baton: null, requests })).body;
  const server = isEmbedded() ? await startSqld() : null;
  const sqld: Ask = async (...requests) => {
    const body = JSON.stringify({ baton: null, requests });
    return await (await fetch(`${server?.url}/v3/pipeline`, { method: "POST", body })).json();
  };
  try {
    for (const [subject, difference] of Object.entries(differences)) {
      await t.step(subject, async () => {
        assertEquals(await difference.ask(here), difference.here, "here");
        if (server !== null) assertEquals(await difference.ask(sqld), difference.sqld, "sqld");
      });
    }
  } finally {
    await server?.stop();
  }

  await t.step("Protobuf", async () => {
    const { status } = await app.request("GET", "/hrana/acme/main/v3-protobuf");
    assertEquals(status, 404);
  });
});

Deno.test("a transaction that is taken away", async (t) => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock, transactions: { leaseMs: 20, idleMs: 20, longestMs: 20 } });
  const { pipeline, setup, rows } = await hranaWorld(app, "acme");
  await setup("CREATE TABLE d (v)");
  /** Answers the baton of one whose statement has been told so. */
  const takenAway = async () => {
    const first = await pipeline({
      baton: null,
      requests: [execute("BEGIN"), execute("INSERT INTO d VALUES (1)")],
    });
    // With sqld the times cannot be set, and asking for all of them would keep a processor busy.
    if (!isEmbedded()) clock.turn(transactionLimits.longestMs);
    let { baton } = first.body;
    let code = "";
    while (code !== "TRANSACTION_TIMEOUT") {
      const { body } = await pipeline({ baton, requests: [execute("INSERT INTO d VALUES (2)")] });
      code = body.code ?? codes(body)[0] ?? "";
      baton = body.baton ?? baton;
      await pause(5);
    }
    return baton;
  };

  await t.step("nothing of it is kept, and its statements fail", async () => {
    const baton = await takenAway();
    const asked = ["SELECT 1", "SAVEPOINT s", "INSERT INTO d VALUES (3)"].map(execute);
    const { body } = await pipeline({ baton, requests: [...asked, { type: "get_autocommit" }] });
    assertEquals(codes(body), [...asked.map(() => "TRANSACTION_TIMEOUT"), "ok"]);
    assertEquals(body.results[3]?.response?.is_autocommit, false);
    assertEquals(await rows("SELECT v FROM d"), []);
  });

  for (const end of ["COMMIT", "ROLLBACK"]) {
    // A client that hears that it is inside of one still sends no BEGIN, so that its next writes would commit one by one.
    await t.step(`${end} fails and is its end, as a client that asks is told`, async () => {
      const baton = await takenAway();
      const ending = await pipeline({ baton, requests: [execute(end), { type: "get_autocommit" }] });
      assertEquals(codes(ending.body), ["TRANSACTION_TIMEOUT", "ok"]);
      assertEquals([ending.body.results[1]?.response?.is_autocommit, ending.body.baton], [true, null]);
      assertEquals(await rows("SELECT v FROM d"), []);
    });
  }
});
