// Random statements over the tables of `random_schema.ts`, with values of every kind in the text and as parameters.
import fc from "fast-check";

export interface Statement {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** A piece of a statement: its text with `?` for each parameter. */
type Piece = Statement;

const text = (sql: string): Piece => ({ sql, params: [] });

const numbers = fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, -1, 0.5, -1.25, 1e300, 2 ** 53 - 1);
const words = fc.constantFrom(
  "",
  "p",
  "q",
  "P",
  "one",
  "ünï ☃",
  "😀",
  "it's",
  "12",
  "1e3",
  " 7 ",
  "two three",
);
const parameters: fc.Arbitrary<Piece> = fc.oneof(
  numbers,
  words,
  fc.constantFrom(null, true, false, { $blob: "" }, { $blob: "w6k=" }, "9223372036854775807"),
).map((value) => ({ sql: "?", params: [value] }));
const literals = fc.constantFrom(
  ...["NULL", "1", "2", "5", "'p'", "'Q'", "x''", "x'c3a9'", "9e999", "-9e999", "-9223372036854775808"],
  ...[
    "9223372036854775807",
    "9007199254740993",
    "0.1",
    "CAST('7' AS BLOB)",
    "abs(-3)",
    "'two' || char(9731)",
  ],
).map(text);
const values = fc.oneof({ weight: 2, arbitrary: literals }, { weight: 3, arbitrary: parameters });
const ids = fc.oneof(
  fc.constantFrom("NULL", "1", "2", "3", "5", "8", "'x'").map(text),
  fc.integer({ min: 0, max: 9 }).map((id) => ({ sql: "?", params: [id] })),
);
const or = fc.constantFrom("", "", "", " OR IGNORE", " OR REPLACE", " OR FAIL", " OR ABORT", " OR ROLLBACK");
const returning = fc.constantFrom("", "", " RETURNING *", " RETURNING 1, 'x'").map(text);
const maybeTold = fc.oneof(returning, parameters.map(({ params }) => ({ sql: " RETURNING ?", params })));

/** Joins pieces in the order in which they stand in the text. */
function join(parts: TemplateStringsArray, ...pieces: readonly (Piece | string)[]): Statement {
  const all = pieces.map((piece) => typeof piece === "string" ? text(piece) : piece);
  return {
    sql: parts.map((part, at) => part + (all[at]?.sql ?? "")).join(""),
    params: all.flatMap(({ params }) => params),
  };
}

const row = (...cells: fc.Arbitrary<Piece>[]): fc.Arbitrary<Piece> =>
  fc.tuple(...cells).map((found) => ({
    sql: `(${found.map(({ sql }) => sql).join(", ")})`,
    params: found.flatMap(({ params }) => params),
  }));
const rows = (...cells: fc.Arbitrary<Piece>[]): fc.Arbitrary<Piece> =>
  fc.array(row(...cells), { minLength: 1, maxLength: 3 }).map((found) => ({
    sql: found.map(({ sql }) => sql).join(", "),
    params: found.flatMap(({ params }) => params),
  }));

const upserts = fc.constantFrom(
  ...["", "", "", " ON CONFLICT DO NOTHING", " ON CONFLICT (id) DO UPDATE SET a = excluded.a"],
  " ON CONFLICT (id) DO UPDATE SET b = b || 'u', id = id + 10 WHERE b IS NOT NULL",
);
const conditions: fc.Arbitrary<Piece> = fc.oneof(
  fc.constantFrom("", " WHERE 1", " WHERE 0").map(text),
  fc.constantFrom("id", "rowid").chain((name) => ids.map((id) => join` WHERE ${name} = ${id}`)),
  fc.constantFrom("<", ">=", "<>").chain((than) => ids.map((id) => join` WHERE id ${than} ${id}`)),
  values.map((value) => join` WHERE id IS ${value}`),
);
const assignments: fc.Arbitrary<Piece> = fc.oneof(
  values.map((value) => join`a = ${value}`),
  values.map((value) => join`b = ${value}`),
  fc.constantFrom("id = id + 1", "a = a + 1", "b = b || '!', a = b", "id = id", "(a, b) = (b, a)").map(text),
  fc.tuple(ids, values).map(([id, value]) => join`id = ${id}, a = ${value}`),
);

/** Statements that change rows. */
export const writes: fc.Arbitrary<Statement> = fc.oneof(
  fc.tuple(or, rows(ids, values, values), upserts, returning).map(([how, some, upsert, told]) =>
    join`INSERT${how} INTO t (id, a, b) VALUES ${some}${upsert}${told}`
  ),
  fc.tuple(or, rows(values, values), returning).map(([how, some, told]) =>
    join`INSERT${how} INTO t (a, b) VALUES ${some}${told}`
  ),
  fc.tuple(or, rows(ids, ids, values)).map(([how, some]) => join`INSERT${how} INTO k VALUES ${some}`),
  fc.tuple(or, rows(values, values, values)).map(([how, some]) => join`INSERT${how} INTO w VALUES ${some}`),
  fc.constantFrom("SELECT a, b FROM t", "SELECT v, id FROM k", "SELECT body, 1 FROM docs").map((from) =>
    text(`INSERT OR IGNORE INTO t (a, b) ${from}`)
  ),
  fc.tuple(or, assignments, conditions, maybeTold).map(([how, set, where, told]) =>
    join`UPDATE${how} t SET ${set}${where}${told}`
  ),
  // Moves rows onto each other: the way to meet rows and leave some of them as they are.
  fc.tuple(
    fc.constantFrom(" OR IGNORE", " OR IGNORE", " OR REPLACE", ""),
    fc.constantFrom("id + 1", "id + 1", "3 - id"),
    fc.constantFrom("", " WHERE id > 1", " WHERE id < 5"),
  ).map(([how, id, where]) => text(`UPDATE${how} t SET id = ${id}, a = a${where}`)),
  fc.tuple(or, values, conditions).map(([how, value, where]) =>
    join`UPDATE${how} k SET v = ${value}${where}`
  ),
  fc.tuple(or, ids, conditions).map(([how, id, where]) => join`UPDATE${how} k SET t = ${id}${where}`),
  fc.tuple(or, values).map(([how, value]) => join`UPDATE${how} w SET y = y || ${value}, z = ${value}`),
  fc.tuple(fc.constantFrom("t", "k"), conditions, maybeTold).map(([table, where, told]) =>
    join`DELETE FROM ${table}${where}${told}`
  ),
  values.map((value) => join`DELETE FROM w WHERE x = ${value}`),
  words.map((word) => ({ sql: "INSERT INTO docs VALUES (?)", params: [word] })),
  fc.constantFrom("one", "two", "three").chain((word) =>
    fc.constantFrom(
      "UPDATE docs SET body = body || ' three' WHERE docs MATCH ?",
      "DELETE FROM docs WHERE docs MATCH ?",
    ).map((sql) => ({ sql, params: [word] }))
  ),
);

const reads: fc.Arbitrary<Statement> = fc.oneof(
  fc.tuple(values, values, values).map(([one, two, three]) =>
    join`SELECT ${one}, ${two}, ${three} UNION ALL SELECT 1, x'00', -9223372036854775808`
  ),
  values.map((value) => ({ sql: `SELECT typeof(${value.sql})`, params: value.params })),
  fc.constantFrom(
    "SELECT count(*), sum(a), max(b), min(id), group_concat(b) FROM t",
    "SELECT t.*, k.* FROM t LEFT JOIN k ON k.t = t.id ORDER BY t.id, k.id, t.a, t.b",
    "SELECT rowid, body FROM docs WHERE docs MATCH 'two' ORDER BY rowid",
    "SELECT x'00ff', zeroblob(2), 9e999, -9223372036854775808",
    "SELECT total(a), avg(a), a + 0.5, a * 1e300 FROM t GROUP BY a ORDER BY a",
    "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i * -4611686018427387904 FROM c LIMIT 3) SELECT i FROM c",
  ).map(text),
);

/** One statement, or several in a batch; `transaction` null: as a query. */
export interface Call {
  readonly statements: readonly Statement[];
  readonly transaction: boolean | null;
}

const statements = fc.oneof({ weight: 4, arbitrary: writes }, { weight: 1, arbitrary: reads });

export const calls: fc.Arbitrary<Call> = fc.oneof(
  statements.map((one): Call => ({ statements: [one], transaction: null })),
  fc.tuple(fc.array(statements, { minLength: 1, maxLength: 6 }), fc.boolean()).map(
    ([some, transaction]): Call => ({ statements: some, transaction }),
  ),
);
