// What applications do with @libsql/hrana-client, the layer below @libsql/client, and what they see of it.
// @ts-types="./hrana_client.d.ts"
import { type Asking, type Batch, BatchCond, type Client, type SqlOwner, Stmt } from "@libsql/hrana-client";
// @ts-types="./hrana_client.d.ts"
import type { Stream } from "@libsql/hrana-client";
import { pause } from "../../lib/core/pause.ts";

/** A client of the newest version that it and the server speak, and a stream of it. */
export interface CaseWorld {
  readonly client: Client;
  readonly stream: Stream;
  /** Who stores texts: the stream over HTTP, the client over a socket. */
  readonly owner: SqlOwner;
}

/** What is done, and what is seen. */
export interface ClientCase {
  readonly ask: (world: CaseWorld) => Promise<unknown>;
  readonly sees: unknown;
  /** Version 2 of the protocol does not have it. */
  readonly since3?: true;
  /** sqld 0.24 sends a line in its cursors at which this client throws. */
  readonly notOnSqld?: true;
}

const BIG = "SELECT 9007199254740992";
const ended = (asked: Promise<unknown>) => asked.then(() => "answered", (error: Error) => error.name);
const value = async (asking: Asking, statement: Parameters<Asking["queryValue"]>[0]) =>
  (await asking.queryValue(statement)).value;
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

/** A table of its own in a transaction that nobody commits. */
async function begun(stream: Stream, columns: string): Promise<void> {
  for (const sql of ["BEGIN", "DROP TABLE IF EXISTS t", `CREATE TABLE t (${columns})`]) await stream.run(sql);
}

async function remade(stream: Stream, columns: string): Promise<void> {
  for (const sql of ["DROP TABLE IF EXISTS t", `CREATE TABLE t (${columns})`]) await stream.run(sql);
}

/** A table with a true and a false. */
async function truths({ stream, client }: CaseWorld): Promise<unknown> {
  await remade(stream, "id INTEGER PRIMARY KEY, yes BOOLEAN");
  await stream.run("INSERT INTO t VALUES (1, true), (2, false)");
  const { rows } = await client.openStream().query("SELECT yes FROM t ORDER BY id");
  return rows.map(({ yes }) => yes);
}

/** Asks a hundred things, with `between` behind each. */
const hundred = (between: () => unknown) => async ({ stream }: CaseWorld) => {
  const asked = [];
  for (const number of numbers(100)) {
    asked.push(value(stream, ["SELECT ?", [number]]));
    await between();
  }
  return (await Promise.all(asked)).every((found, at) => found === at);
};

const statements: Readonly<Record<string, ClientCase>> = {
  "a value": {
    ask: async ({ stream }) => {
      const { value, columnNames, affectedRowCount } = await stream.queryValue("SELECT 1 AS one");
      return [value, columnNames, affectedRowCount];
    },
    sees: [1, ["one"], 0],
  },
  "no value": {
    ask: async ({ stream }) => {
      const { value, columnNames } = await stream.queryValue("SELECT 1 AS one WHERE 0 = 1");
      return [value, columnNames];
    },
    sees: [undefined, ["one"]],
  },
  "a row by number and by name": {
    ask: async ({ stream }) => {
      const { row = {} } = await stream.queryRow("SELECT 1 AS a, 'two' AS b, 3.5 AS c, NULL AS d");
      const { a, b, c, d } = row as Record<string, unknown>;
      return [a, b, c, d, ...Array.from(row as ArrayLike<unknown>)];
    },
    sees: [1, "two", 3.5, null, 1, "two", 3.5, null],
  },
  "no row": {
    ask: async ({ stream }) => (await stream.queryRow("SELECT 1 WHERE 0 = 1")).row,
    sees: undefined,
  },
  "rows": {
    ask: async ({ stream }) => {
      await begun(stream, "a, b, c, d");
      await stream.run("INSERT INTO t VALUES (1, 'x', 42.5, NULL), (2, 'y', '123', 0.0)");
      const { rows, affectedRowCount } = await stream.query("SELECT * FROM t ORDER BY a");
      return [rows.map((row) => Array.from(row)), affectedRowCount];
    },
    sees: [[[1, "x", 42.5, null], [2, "y", "123", 0]], 0],
  },
  "counts of changed rows in a transaction": {
    ask: async ({ stream }) => {
      const counts = [];
      for (
        const sql of [
          ...["BEGIN", "DROP TABLE IF EXISTS t", "CREATE TABLE t (num, word)"],
          "INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three')",
          ...["SELECT * FROM t", "DELETE FROM t WHERE num >= 2", "UPDATE t SET num = 4", "DROP TABLE t"],
          "COMMIT",
        ]
      ) counts.push((await stream.run(sql)).affectedRowCount);
      return counts;
    },
    sees: [0, 0, 0, 3, 0, 2, 1, 0, 0],
  },
  "the last rowid, at both ends of its range": {
    ask: async ({ stream }) => {
      await begun(stream, "id INTEGER PRIMARY KEY");
      const ids = ["123", "9223372036854775807", "-9223372036854775808"];
      const found = [];
      for (const id of ids) {
        found.push(String((await stream.run(`INSERT INTO t VALUES (${id})`)).lastInsertRowid));
      }
      return found;
    },
    sees: ["123", "9223372036854775807", "-9223372036854775808"],
  },
  "names of columns, of rows that are not read too": {
    ask: async ({ stream }) => (await stream.run("SELECT 1 AS one, 2 AS two")).columnNames,
    sees: ["one", "two"],
  },
  "declared types": {
    ask: async ({ stream }) => {
      await begun(stream, "a TEXT, b int NOT NULL, c FURRY BUNNY");
      return (await stream.query("SELECT a, b, c, a + b AS sum FROM t")).columnDecltypes;
    },
    sees: ["TEXT", "INT", "FURRY BUNNY", undefined],
  },
  "an incomplete statement": {
    ask: ({ stream }) => ended(stream.queryValue("SELECT")),
    sees: "ResponseError",
  },
};

const bound = (statement: Parameters<Asking["queryRow"]>[0], sees: readonly unknown[]): ClientCase => ({
  ask: async ({ stream }) => Array.from(((await stream.queryRow(statement)).row ?? []) as ArrayLike<unknown>),
  sees,
});

const values: Readonly<Record<string, ClientCase>> = {
  "values by position": bound(["SELECT ?, ?3, ?2", ["one", null, 3]], ["one", 3, null]),
  "values by name": bound(["SELECT :one, @two, $three", { ":one": 1, two: 2, "$three": 3 }], [1, 2, 3]),
  "a statement without values": bound(new Stmt("SELECT 1"), [1]),
  "a statement with values": bound(new Stmt("SELECT ? || ?").bindIndexes(["a", "b"]), ["ab"]),
  "a statement whose first value is missing": bound(new Stmt("SELECT ?, ?").bindIndex(2, "b"), [null, "b"]),
  "a statement with a name": bound(new Stmt("SELECT $x").bindName("x", 10), [10]),
  "an ArrayBuffer": bound(["SELECT length(?)", [new ArrayBuffer(42)]], [42]),
  "bytes": bound(["SELECT length(?)", [new Uint8Array(42)]], [42]),
  "a bigint": bound(["SELECT ?", [-123n]], [-123]),
  "a date": bound(["SELECT ?", [new Date("2023-01-01Z")]], [1672531200000]),
  "an object, by its text": bound(["SELECT ?", [/.*/]], ["/.*/"]),
  "bytes come back": {
    ask: async ({ stream }) => {
      const sent = Uint8Array.from(numbers(256));
      const [random, same] = [
        await value(stream, "SELECT randomblob(38)"),
        await value(stream, ["SELECT ?", [sent]]),
      ];
      return [(random as ArrayBuffer).byteLength, Array.from(new Uint8Array(same as ArrayBuffer))];
    },
    sees: [38, numbers(256)],
  },
  "integers as numbers": {
    ask: async ({ stream }) => [await value(stream, "SELECT 42"), await ended(stream.queryValue(BIG))],
    sees: [42, "RangeError"],
  },
  "integers as bigints": {
    ask: async ({ stream }) => {
      stream.intMode = "bigint";
      return [await value(stream, "SELECT 42"), await value(stream, BIG)];
    },
    sees: [42n, 9007199254740992n],
  },
  "integers as text": {
    ask: async ({ client }) => {
      client.intMode = "string";
      const stream = client.openStream();
      return [await value(stream, "SELECT 42"), await value(stream, BIG)];
    },
    sees: ["42", "9007199254740992"],
  },
  "truth as numbers": { ask: truths, sees: [1, 0] },
};

const streams: Readonly<Record<string, ClientCase>> = {
  "two streams are apart": {
    ask: async ({ client, stream }) => {
      await remade(stream, "number");
      await stream.run("INSERT INTO t VALUES (1)");
      const other = client.openStream();
      for (const sql of ["BEGIN"]) await stream.run(sql);
      for (const sql of ["BEGIN", "INSERT INTO t VALUES (10)"]) await other.run(sql);
      const sum = "SELECT sum(number) FROM t";
      return [await value(stream, sum), await value(other, sum)];
    },
    sees: [1, 11],
  },
  "ten streams at once, each in its order": {
    ask: async ({ client, stream }) => {
      await remade(stream, "stream, value");
      const texts = numbers(10).map(async (number) => {
        const own = client.openStream();
        await own.run(["INSERT INTO t VALUES (?, 's')", [number]]);
        const change = "UPDATE t SET value = value || ? WHERE stream = ? RETURNING value";
        const asked = numbers(10).map((at) => value(own, [change, [String(at), number]]));
        const found = await Promise.all(asked);
        own.close();
        return found.at(-1);
      });
      return [...new Set(await Promise.all(texts))];
    },
    sees: ["s0123456789"],
  },
  "a hundred statements at once": { ask: hundred(() => undefined), sees: true },
  "a hundred statements in microtasks": { ask: hundred(() => Promise.resolve()), sees: true },
  "a hundred statements in turns of the event loop": {
    ask: hundred(() => pause(0)),
    sees: true,
  },
  "a closed stream": {
    ask: async ({ stream }) => {
      await stream.queryValue("SELECT 1");
      const before = stream.closed;
      for (const _ of [1, 2]) stream.close();
      return [
        before,
        stream.closed,
        await ended(Promise.resolve().then(() => stream.queryValue("SELECT 1"))),
      ];
    },
    sees: [false, true, "ClosedError"],
  },
  "a stream that was never used": {
    ask: ({ stream, client }) => {
      stream.close();
      client.openStream().closeGracefully();
      return Promise.resolve(stream.closed);
    },
    sees: true,
  },
  "a stream that is closed behind what it does": {
    ask: async ({ stream }) => {
      const asked = value(stream, "SELECT 1");
      stream.closeGracefully();
      return [
        await asked,
        stream.closed,
        await ended(Promise.resolve().then(() => stream.queryValue("SELECT 1"))),
      ];
    },
    sees: [1, true, "ClosedError"],
  },
  "autocommit": {
    ask: async ({ stream }) => {
      const seen = [await stream.getAutocommit()];
      await remade(stream, "a UNIQUE");
      for (const sql of ["BEGIN", "INSERT INTO t VALUES (1)"]) {
        await stream.run(sql);
        seen.push(await stream.getAutocommit());
      }
      const failed = await ended(stream.run("INSERT OR ROLLBACK INTO t VALUES (1)"));
      return [seen, failed, await stream.getAutocommit()];
    },
    sees: [[true, false, false], "ResponseError", true],
    since3: true,
  },
};

const texts: Readonly<Record<string, ClientCase>> = {
  "describe: nothing": {
    ask: async ({ stream }) => {
      const { paramNames, columns } = await stream.describe("SELECT 1 AS one");
      return [paramNames, columns.map(({ name, decltype }) => [name, decltype])];
    },
    sees: [[], [["one", undefined]]],
  },
  "describe: placeholders": {
    ask: async ({ stream }) => (await stream.describe("SELECT ?, ?3, :one, $two, @three")).paramNames,
    sees: [undefined, undefined, "?3", ":one", "$two", "@three"],
  },
  "describe: columns": {
    ask: async ({ stream }) => {
      await begun(stream, "a TEXT, b int NOT NULL, c FURRY BUNNY");
      const { columns } = await stream.describe("SELECT a, b, c, a + b AS sum FROM t");
      return columns.map(({ name, decltype }) => [name, decltype]);
    },
    sees: [["a", "TEXT"], ["b", "INT"], ["c", "FURRY BUNNY"], ["sum", undefined]],
  },
  "describe: what explains, and what only reads": {
    ask: async ({ stream }) => {
      await begun(stream, "a TEXT");
      const asked = [
        "SELECT 1",
        "EXPLAIN SELECT 1",
        "EXPLAIN QUERY PLAN SELECT 1",
        "UPDATE t SET a = 'x'",
        "DROP TABLE t",
        "COMMIT",
      ];
      const found = [];
      for (const sql of asked) {
        const { isExplain, isReadonly } = await stream.describe(sql);
        found.push([isExplain, isReadonly]);
      }
      return found;
    },
    sees: [[false, true], [true, true], [true, true], [false, false], [false, false], [false, true]],
  },
  "sequence: no statement": {
    ask: ({ stream }) => ended(stream.sequence("  \n-- only a comment\n")),
    sees: "answered",
  },
  "sequence: one statement": {
    ask: async ({ stream }) => {
      await begun(stream, "b");
      await stream.sequence("DROP TABLE t;");
      await stream.sequence("CREATE TABLE t (a);");
      return await value(stream, "SELECT count(*) FROM t");
    },
    sees: 0,
  },
  "sequence: several statements": {
    ask: async ({ stream }) => {
      await stream.sequence(
        "BEGIN; DROP TABLE IF EXISTS t; CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3);",
      );
      return await value(stream, "SELECT count(*) FROM t");
    },
    sees: 3,
  },
  "stored texts": {
    ask: async ({ stream, owner }) => {
      const [plain, valued, row] = ["SELECT 42", "SELECT ?", "SELECT 'one', 'two'"].map((sql) =>
        owner.storeSql(sql)
      );
      if (!plain || !valued || !row) return null;
      const batch = stream.batch();
      const steps = [batch.step().queryValue(plain), batch.step().queryRow(row)];
      await batch.execute();
      const found = (await Promise.all(steps)).length;
      return [await value(stream, plain), await value(stream, [valued, [7]]), found];
    },
    sees: [42, 7, 2],
  },
  "stored texts: describe and close": {
    ask: async ({ stream, owner }) => {
      const text = owner.storeSql("SELECT :a, $b");
      const { paramNames } = await stream.describe(text);
      const before = text.closed;
      text.close();
      return [paramNames, before, text.closed];
    },
    sees: [[":a", "$b"], false, true],
  },
};

type Ask = (stream: Stream, batch: Batch) => Promise<unknown>;

/** A batch, by a cursor or at once. */
const batched = (useCursor: boolean, ask: Ask, sees: unknown): ClientCase => ({
  ask: ({ stream }) => ask(stream, stream.batch(useCursor)),
  sees,
});

/** A step that fails or not, and one on a condition of it: whether that one has run. */
const onCondition = (
  sqls: readonly string[],
  condition: (batch: Batch, steps: ReturnType<Batch["step"]>[]) => BatchCond,
): Ask =>
async (_stream, batch) => {
  const steps = sqls.map((sql) => {
    const step = batch.step();
    step.queryValue(sql).catch(() => {});
    return step;
  });
  const last = batch.step().condition(condition(batch, steps)).queryValue("SELECT 1");
  await batch.execute();
  return await last !== undefined;
};

const GOOD = "SELECT 1";
const BAD = "SELECT no_such_column";
const ok = (_batch: Batch, [first]: ReturnType<Batch["step"]>[]) => BatchCond.ok(required(first));
const failed = (_batch: Batch, [first]: ReturnType<Batch["step"]>[]) => BatchCond.error(required(first));
const and = (batch: Batch, steps: ReturnType<Batch["step"]>[]) =>
  BatchCond.and(batch, steps.map(BatchCond.ok));
const or = (batch: Batch, steps: ReturnType<Batch["step"]>[]) => BatchCond.or(batch, steps.map(BatchCond.ok));

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError("there is none");
  return value;
}

const inTurn = (useCursor: boolean): Ask => async (stream) => {
  await remade(stream, "a");
  await stream.run("INSERT INTO t VALUES (0)");
  const [found, done]: [Promise<unknown>[], Promise<void>[]] = [[], []];
  for (const _ of numbers(100)) {
    const batch = stream.batch(useCursor);
    for (const _ of numbers(20)) {
      found.push(batch.step().queryValue("UPDATE t SET a = a + 1 RETURNING a").then((one) => one?.value));
    }
    done.push(batch.execute());
  }
  await Promise.all(done);
  return (await Promise.all(found)).every((one, at) => one === at + 1);
};

const many = (count: number, sql: string, close: boolean): Ask => async (stream, batch) => {
  const asked = numbers(count).map((number) => batch.step().query([sql, [number]]));
  const done = batch.execute();
  if (close) stream.closeGracefully();
  await done;
  return (await Promise.all(asked)).reduce((sum, one) => sum + (one?.rows.length ?? 0), 0);
};

const ENDLESS =
  "WITH RECURSIVE n (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT a FROM n LIMIT 10 * ?";

const batches = (useCursor: boolean): Record<string, ClientCase> => ({
  "nothing": batched(useCursor, (_, batch) => ended(batch.execute()), "answered"),
  "several statements, of which one fails": batched(useCursor, async (_, batch) => {
    const steps = [GOOD, BAD, "SELECT 2"].map((sql) => valueOrError(batch.step().queryValue(sql)));
    await batch.execute();
    return await Promise.all(steps);
  }, [1, "ResponseError", 2]),
  "what is no SQL": batched(useCursor, async (_, batch) => {
    const step = valueOrError(batch.step().queryValue("spam"));
    return await batch.execute().then(() => step, (error: Error) => error.name);
  }, "ResponseError"),
  "on success": batched(useCursor, onCondition([GOOD], ok), true),
  "on success, which fails": batched(useCursor, onCondition([BAD], ok), false),
  "on failure, which succeeds": batched(useCursor, onCondition([GOOD], failed), false),
  "on failure": batched(useCursor, onCondition([BAD], failed), true),
  "all of none": batched(useCursor, onCondition([], and), true),
  "all": batched(useCursor, onCondition([GOOD], and), true),
  "all, of which one fails": batched(useCursor, onCondition([GOOD, BAD], and), false),
  "any of none": batched(useCursor, onCondition([], or), false),
  "any": batched(useCursor, onCondition([GOOD, BAD], or), true),
  "any, of which all fail": batched(useCursor, onCondition([BAD], or), false),
  "outside of a transaction": since3(batched(useCursor, onCondition([], BatchCond.isAutocommit), true)),
  "inside of a transaction": since3(
    batched(useCursor, onCondition(["BEGIN"], BatchCond.isAutocommit), false),
  ),
  "behind a rollback of its own": since3(batched(useCursor, async (stream) => {
    await remade(stream, "a UNIQUE");
    await stream.run("INSERT INTO t VALUES (1)");
    const batch = stream.batch(useCursor);
    const step = ended(batch.step().run("INSERT OR ROLLBACK INTO t VALUES (1)"));
    const behind = batch.step().condition(BatchCond.not(BatchCond.isAutocommit(batch))).queryValue(GOOD);
    await batch.execute();
    return [await step, await behind];
  }, ["ResponseError", undefined])),
  "a thousand statements": batched(useCursor, many(1000, "SELECT 10 * ?", false), 1000),
  "many rows": batched(useCursor, many(100, ENDLESS, false), 49_500),
  "closed behind it": batched(useCursor, many(100, "SELECT 10 * ?", true), 100),
  "in their order": batched(useCursor, inTurn(useCursor), true),
});

const valueOrError = (asked: Promise<{ readonly value: unknown } | undefined>) =>
  asked.then((one) => one?.value, (error: Error) => error.name);

const since3 = (one: ClientCase): ClientCase => ({ ...one, since3: true });

const byCursor = (one: ClientCase): ClientCase => ({ ...one, since3: true, notOnSqld: true });

const named = (prefix: string, cases: Record<string, ClientCase>) =>
  Object.entries(cases).map(([name, one]) => [`${prefix}: ${name}`, one] as const);

/** Each with a client and a stream of its own. */
export const clientCases: Readonly<Record<string, ClientCase>> = {
  ...statements,
  ...values,
  ...streams,
  ...texts,
  ...Object.fromEntries(named("batch", batches(false))),
  ...Object.fromEntries(named("batch by cursor", batches(true)).map(([name, one]) => [name, byCursor(one)])),
};
