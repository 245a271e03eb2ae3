// Random schemas: the same tables and columns each time, so that any statement fits any of them, with other types,
// constraints, references and triggers.
import fc from "fast-check";

/** What shows all rows of `t`, its child `k`, `w` without rowid, `log` and the full-text `docs`, with the types of values. */
export const dumps: readonly string[] = [
  "SELECT id, typeof(id), a, typeof(a), b, typeof(b), g, typeof(g) FROM t",
  "SELECT id, t, typeof(t), v, typeof(v) FROM k",
  "SELECT x, typeof(x), y, typeof(y), z, typeof(z) FROM w",
  "SELECT rowid, what, typeof(what) FROM log",
  "SELECT rowid, body FROM docs",
];

/** No REAL among what may become text: engines of other versions write it with other digits. */
const types = fc.constantFrom("", "INTEGER", "TEXT", "NUMERIC", "BLOB");
const constraints = (column: string) =>
  fc.constantFrom(
    ...["", "", "NOT NULL", "UNIQUE", "DEFAULT 7", "COLLATE NOCASE UNIQUE", `CHECK (${column} IS NOT 3)`],
    ...["UNIQUE ON CONFLICT IGNORE", "UNIQUE ON CONFLICT REPLACE", "UNIQUE ON CONFLICT FAIL"],
    ...["NOT NULL ON CONFLICT IGNORE", "UNIQUE ON CONFLICT ROLLBACK"],
  );
const key = fc.constantFrom(
  ...["INTEGER PRIMARY KEY", "INTEGER PRIMARY KEY AUTOINCREMENT", "PRIMARY KEY", "TEXT PRIMARY KEY"],
);
const generated = fc.constantFrom(
  "g",
  "g AS (a || b)",
  "g AS (length(b)) STORED UNIQUE",
  "g AS (a + 1) STORED",
);
const action = fc.constantFrom("CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION");
const deferral = fc.constantFrom("", "", "DEFERRABLE INITIALLY DEFERRED");

const parentAndChild = fc.record({
  ...{ key, aType: types, a: constraints("a"), bType: types, b: constraints("b"), generated },
  ...{ onDelete: action, onUpdate: action, deferral },
}).map(({ key, aType, a, bType, b, generated, onDelete, onUpdate, deferral }) => {
  // Of another type than the key that it refers to, SQLite itself takes a row for a child's parent here and not there.
  const type = key.split(" ")[0]?.replace("PRIMARY", "");
  const actions = `ON DELETE ${onDelete} ON UPDATE ${onUpdate} ${deferral}`;
  return [
    `CREATE TABLE t (id ${key}, a ${aType} ${a}, b ${bType} ${b}, ${generated})`,
    `CREATE TABLE k (id INTEGER PRIMARY KEY, t ${type} DEFAULT 1 REFERENCES t(id) ${actions}, v)`,
  ];
});
const strict = fc.constantFrom(
  "x TEXT, y INTEGER, z ANY",
  "x, y, z REAL NOT NULL",
  "x INTEGER, y TEXT, z TEXT",
)
  .chain(
    (columns) =>
      fc.boolean().map((isStrict) => {
        const options = isStrict && !columns.startsWith("x,") ? "STRICT, WITHOUT ROWID" : "WITHOUT ROWID";
        return `CREATE TABLE w (${columns}, PRIMARY KEY (x, y)) ${options}`;
      }),
  );
const triggers = fc.subarray([
  "CREATE TRIGGER inserted AFTER INSERT ON t BEGIN INSERT INTO log VALUES ('+' || quote(new.id)); END",
  "CREATE TRIGGER changed AFTER UPDATE OF a ON t BEGIN INSERT INTO log VALUES (old.a), (new.a); END",
  "CREATE TRIGGER removed BEFORE DELETE ON t BEGIN DELETE FROM k WHERE t = old.id; END",
  "CREATE TRIGGER ignored BEFORE UPDATE ON t WHEN old.a = 2 BEGIN SELECT RAISE(IGNORE); END",
  "CREATE TRIGGER forbidden BEFORE INSERT ON k WHEN new.v = 4 BEGIN SELECT RAISE(ABORT, 'no fours'); END",
  "CREATE TRIGGER indexed AFTER INSERT ON k BEGIN INSERT INTO docs VALUES ('one ' || new.id); END",
  "CREATE INDEX by_v ON k (v)",
  "CREATE UNIQUE INDEX one_big ON k (v) WHERE v > 5",
  "CREATE INDEX by_both ON t (a, b)",
]);

/** Statements that make a database with a few rows in it. */
export const schemas: fc.Arbitrary<readonly string[]> = fc.tuple(parentAndChild, strict, triggers).map(
  ([both, w, rest]) => [
    ...both,
    w,
    "CREATE TABLE log (what)",
    "CREATE VIRTUAL TABLE docs USING fts5(body)",
    ...rest,
    "INSERT INTO t (id, a, b) VALUES (1, 1, 'p'), (2, 2, 'qq'), (5, 6, 'rrr')",
    "INSERT INTO k VALUES (1, 1, 1), (2, 5, 2)",
    "INSERT INTO docs VALUES ('one two'), ('two three')",
  ],
);
