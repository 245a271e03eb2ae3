// Wild schemas and statements out of a seed, for `same_as_sqlite.ts`: most are valid, some fail, each does the same on any SQLite.

/** Numbers out of a seed (mulberry32). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0, below `bound`. */
  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * bound);
  }

  one<T>(...list: readonly T[]): T {
    const at = list[this.below(list.length)];
    if (at === undefined) throw new RangeError("Nothing to take one of");
    return at;
  }

  /** True once in `times`. */
  rarely(times: number): boolean {
    return this.below(times) === 0;
  }

  many<T>(least: number, most: number, make: (at: number) => T): T[] {
    return Array.from({ length: least + this.below(most - least + 1) }, (_, at) => make(at));
  }
}

export interface WildStatement {
  readonly sql: string;
  readonly params: readonly unknown[];
}

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** Of the columns, those that may be written. */
  readonly open: readonly string[];
  readonly key: readonly string[];
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Not the greatest of all numbers: a row that follows it gets its key by chance. */
const VALUES: readonly string[] = [
  ...[
    "NULL",
    "0",
    "1",
    "2",
    "3",
    "-1",
    "0.5",
    "-1.25",
    "1e300",
    "9e999",
    "-9e999",
    "''",
    "'a'",
    "'A'",
    "'b '",
  ],
  ...["'ünï ☃'", "'😀'", "'12'", "'1e3'", "' 7 '", "x''", "x'00ff'", "x'c3a9'", "9223372036854700001"],
  ...[
    "-9223372036854775808",
    "9007199254740993",
    "-9007199254740993",
    "'it''s'",
    "'[1,2,{\"a\":3}]'",
    "TRUE",
  ],
  ...['\'{"a":[1,null],"b":"x"}\'', "4.0", "-0.0", "CAST('7' AS BLOB)", "'null'", "CURRENT_DATE IS NULL"],
];
const PARAMETERS: readonly unknown[] = [
  ...[
    null,
    0,
    1,
    2,
    3,
    -1,
    0.5,
    1e300,
    9007199254740991,
    true,
    false,
    "",
    "a",
    "A",
    "12",
    "ünï ☃",
    "😀",
    "Infinity",
  ],
  ...[{ $blob: "" }, { $blob: "AP8=" }, "9223372036854700001", "[1,2]", "x".repeat(800), "9007199254740993"],
];

/** Makes one schema, and then statements that fit it. */
export class Wild {
  readonly setUp: readonly WildStatement[];
  /** Without one every table is of the kind that look-ups by key are answered from in the service's own process. */
  readonly hasDocs: boolean;
  #tables: Table[] = [];
  #depth = 0;

  /** `anyBytes`: text may be what is no UTF-8 and hold U+0000, of which stores differ in what they say. */
  constructor(private readonly dice: Dice, private readonly anyBytes: boolean) {
    const statements: string[] = [];
    this.hasDocs = dice.rarely(2);
    for (let at = 0; at < 3; at++) statements.push(this.#table(at));
    statements.push("CREATE TABLE log (n INTEGER PRIMARY KEY, what)");
    if (this.hasDocs) {
      statements.push(
        `CREATE VIRTUAL TABLE docs USING fts5(body${dice.one("", ", tokenize = 'porter'", ", prefix='2'")})`,
      );
    }
    statements.push(
      ...dice.many(0, 3, (at) => this.#index(at)),
      ...this.#views(),
      ...dice.many(0, 4, (at) => this.#trigger(at)),
    );
    this.setUp = statements.map((sql) => ({ sql, params: [] }));
  }

  /** What shows everything there is: all rows with the types of their values. */
  get dumps(): string[] {
    const all = [
      ...this.#tables,
      ...this.hasDocs ? [{ name: "docs", columns: ["rowid", "body"] }] : [],
    ];
    return all.map(({ name, columns }) => {
      const shown = columns.map((column) => `${quoted(column)}, typeof(${quoted(column)})`);
      return `SELECT ${shown.join(", ")} FROM ${quoted(name)}`;
    }).concat(
      "SELECT * FROM log",
      "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE '\\_service%' ESCAPE '\\' AND tbl_name NOT LIKE '\\_service%' ESCAPE '\\'",
    );
  }

  read(): WildStatement {
    return this.#with(() => this.#select(this.dice.below(3), true));
  }

  write(): WildStatement {
    return this.#with(() => {
      const { dice } = this;
      return dice.one<() => string>(
        () => this.#insert(),
        () => this.#insert(),
        () => this.#insert(),
        () => this.#update(),
        () => this.#update(),
        () => this.#delete(),
        () =>
          !this.hasDocs ? this.#insert() : dice.one(
            `INSERT INTO docs VALUES (${this.#value()})`,
            "UPDATE docs SET body = body || ' three' WHERE docs MATCH 'two'",
            "DELETE FROM docs WHERE docs MATCH 'one'",
            "INSERT INTO docs(docs) VALUES ('optimize')",
            "INSERT INTO docs VALUES ('one two') RETURNING rowid, *",
          ),
        () => `${dice.one("INSERT INTO", "REPLACE INTO")} v0 VALUES (${this.#value()}, ${this.#value()})`,
        () => dice.one("UPDATE v0 SET x = ", "UPDATE OR IGNORE v0 SET y = ") + this.#expression([]),
      )();
    });
  }

  /** Looks rows up by a key; the same text comes again with other values by `again`. */
  lookUp(): WildStatement {
    return this.#with(() => {
      const { dice } = this;
      const { name, columns, key } = this.#anyTable();
      const by = key.length > 0 && !dice.rarely(3) ? key : [dice.one("rowid", "a", "b", ...columns)];
      const where = by.map((column) =>
        `${quoted(column)} ${dice.one("=", "=", "IS")} ?${dice.one("", "", " COLLATE NOCASE")}`
      );
      const shown = dice.one(
        "*",
        columns.map(quoted).join(", "),
        `${quoted(dice.one(...columns))} AS x, 'y'`,
      );
      return `SELECT ${shown} FROM ${quoted(name)} WHERE ${where.join(" AND ")}${
        dice.one("", "", " LIMIT 1")
      }`;
    });
  }

  again({ sql }: WildStatement): WildStatement {
    return this.#with(() => sql);
  }

  /** Leaves the columns that there are. */
  schemaChange(at: number): WildStatement {
    return this.#with(() => {
      const { dice } = this;
      const { name } = this.#anyTable();
      return dice.one<() => string>(
        () => this.#index(at + 10),
        () => `DROP INDEX IF EXISTS i${dice.below(3)}`,
        () => `DROP TRIGGER IF EXISTS tr${dice.below(4)}`,
        () =>
          `ALTER TABLE ${quoted(name)} ADD COLUMN "n ${at}" ${
            dice.one("", "INTEGER", "TEXT DEFAULT 'x'", "ANY DEFAULT 1.5 CHECK (1)")
          }`,
        () => `CREATE TABLE made${at} AS ${this.#select(0, true)}`.replaceAll("?", "8"),
        () => `ALTER TABLE log RENAME COLUMN what TO "wh at"`,
        () => `ALTER TABLE log RENAME COLUMN "wh at" TO what`,
        () => "REINDEX",
        () => this.#trigger(at + 10),
        () => `DROP VIEW IF EXISTS v1`,
      )();
    });
  }

  #with(make: () => string): WildStatement {
    this.#depth = 0;
    const sql = make();
    return this.#told({ sql, params: [...sql.matchAll(/\?/g)].map(() => this.dice.one(...PARAMETERS)) });
  }

  #told({ sql, params }: WildStatement): WildStatement {
    if (this.anyBytes) return { sql, params };
    return {
      sql: sql.replaceAll("x'00ff'", "x'7a7a'"),
      params: params.map((one) => typeof one === "object" && one !== null ? { $blob: "eg==" } : one),
    };
  }

  #table(at: number): string {
    const { dice } = this;
    const name = dice.one(`t${at}`, `t${at}`, `T ${at}`, `sélect${at}`, `or"der${at}`);
    const strict = dice.rarely(4);
    const type = () =>
      strict ? dice.one("INTEGER", "INT", "REAL", "TEXT", "BLOB", "ANY") : dice.one(
        "",
        "INTEGER",
        "TEXT",
        "REAL",
        "BLOB",
        "NUMERIC",
        "VARCHAR(10)",
        "BOOLEAN",
        "DATETIME",
        "FLOATING POINT",
      );
    const names = ["a", "b", dice.one("c", "C d", "group", "☃"), dice.one("d", "rowid", "oid", "_rowid_")];
    const keyKind = dice.one("rowid", "rowid", "auto", "text", "two", "none", "without", "int desc");
    const key = keyKind === "none" ? [] : keyKind === "two" || keyKind === "without" ? ["a", "b"] : ["a"];
    const definitions = names.map((column) => {
      let text = `${quoted(column)} ${type()}`;
      if (column === "a" && keyKind === "rowid") return `${quoted(column)} INTEGER PRIMARY KEY`;
      if (column === "a" && keyKind === "auto") return `${quoted(column)} INTEGER PRIMARY KEY AUTOINCREMENT`;
      if (column === "a" && keyKind === "text") return `${quoted(column)} TEXT PRIMARY KEY`;
      if (column === "a" && keyKind === "int desc") return `${quoted(column)} INTEGER PRIMARY KEY DESC`;
      if (dice.rarely(4)) {
        text += ` DEFAULT ${dice.one("7", "'d'", "(1 + 1)", "NULL", "x'01'", "(lower('X'))", "-3", "1e3")}`;
      }
      if (dice.rarely(5)) {
        text += ` NOT NULL${dice.one("", "", " ON CONFLICT IGNORE", " ON CONFLICT REPLACE")}`;
      }
      if (dice.rarely(6)) {
        text += ` UNIQUE${
          dice.one(
            "",
            "",
            " ON CONFLICT IGNORE",
            " ON CONFLICT REPLACE",
            " ON CONFLICT FAIL",
            " ON CONFLICT ROLLBACK",
          )
        }`;
      }
      if (dice.rarely(5)) text += ` COLLATE ${dice.one("NOCASE", "RTRIM", "BINARY")}`;
      if (dice.rarely(6)) text += ` CHECK (${quoted(column)} IS NOT 3)`;
      return text;
    });
    const open = [...names];
    if (dice.rarely(2)) {
      names.push("g");
      definitions.push(
        `g ${strict ? "ANY" : ""} AS (${
          dice.one("a", 'a || "b"', "length(b)", "coalesce(a, b)", "typeof(b)")
        }) ${dice.one("", "STORED", "VIRTUAL")}`,
      );
    }
    const parent = this.#tables.find(({ key }) => key.length === 1);
    if (parent !== undefined && dice.rarely(2)) {
      names.push("p");
      open.push("p");
      const action = () => dice.one("CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION");
      definitions.push(
        `p ${strict ? "ANY" : ""} REFERENCES ${
          quoted(parent.name)
        }(a) ON DELETE ${action()} ON UPDATE ${action()} ${dice.one("", "DEFERRABLE INITIALLY DEFERRED")}`,
      );
    }
    if (key.length === 2) definitions.push(`PRIMARY KEY (a, b${dice.one("", " DESC", " COLLATE NOCASE")})`);
    const options = [...keyKind === "without" ? ["WITHOUT ROWID"] : [], ...strict ? ["STRICT"] : []];
    this.#tables.push({ name, columns: names, open, key });
    return `CREATE TABLE ${quoted(name)} (${definitions.join(", ")}) ${options.join(", ")}`;
  }

  #index(at: number): string {
    const { dice } = this;
    const { name, columns } = this.#anyTable();
    const column = quoted(dice.one(...columns));
    const what = dice.one(
      column,
      `${column} DESC`,
      `lower(${column})`,
      `${column} COLLATE NOCASE, a`,
      `a, ${column}`,
      `abs(${column})`,
    );
    return `CREATE ${dice.one("", "", "UNIQUE ")}INDEX i${at} ON ${quoted(name)} (${what})${
      dice.one("", ` WHERE ${column} IS NOT NULL`, ` WHERE ${column} > 1`)
    }`;
  }

  #views(): string[] {
    const { name } = this.#anyTable();
    return [
      `CREATE VIEW v0 (x, y) AS SELECT a, b FROM ${quoted(name)}`,
      `CREATE VIEW v1 AS SELECT x, count(*) AS n, max(y) AS m FROM v0 GROUP BY x`,
      `CREATE TRIGGER into_view INSTEAD OF INSERT ON v0 BEGIN INSERT INTO log (what) VALUES (new.x), (new.y); END`,
      ...this.dice.one([], [
        `CREATE TRIGGER of_view INSTEAD OF UPDATE ON v0 BEGIN UPDATE ${
          quoted(name)
        } SET b = new.y WHERE a IS old.x; END`,
      ]),
    ];
  }

  #trigger(at: number): string {
    const { dice } = this;
    const { name, columns } = this.#anyTable();
    const other = this.#anyTable();
    const event = dice.one("INSERT", "UPDATE", "DELETE", `UPDATE OF ${quoted(dice.one("a", "b"))}`);
    const row = event === "INSERT" ? "new" : event === "DELETE" ? "old" : dice.one("new", "old");
    const column = quoted(dice.one(...columns));
    const body = dice.one(
      `INSERT INTO log (what) VALUES (${row}.${column})`,
      `INSERT INTO log (what) SELECT count(*) FROM ${quoted(other.name)}`,
      `UPDATE ${quoted(other.name)} SET b = ${row}.${column} WHERE a = ${row}.a`,
      `DELETE FROM ${quoted(other.name)} WHERE b = ${row}.b`,
      `SELECT RAISE(${dice.one("IGNORE", "ABORT, 'no'", "FAIL, 'no'", "ROLLBACK, 'no'")}) WHERE ${row}.b = 2`,
      this.hasDocs
        ? `INSERT INTO docs VALUES ('one ' || ${row}.${column})`
        : `INSERT OR REPLACE INTO log VALUES (1, ${row}.${column})`,
      `INSERT OR IGNORE INTO ${quoted(other.name)} (a, b) VALUES (${row}.b, ${row}.a)`,
    );
    return `CREATE TRIGGER tr${at} ${dice.one("BEFORE", "AFTER")} ${event} ON ${quoted(name)} ${
      dice.one("", `WHEN ${row}.${column} IS NOT NULL`)
    } BEGIN ${body}; END`;
  }

  #anyTable(): Table {
    return this.dice.one(...this.#tables);
  }

  #value(): string {
    const { dice } = this;
    return dice.rarely(2) ? dice.one(...VALUES) : "?";
  }

  /** `columns` as they stand in the text. */
  #expression(columns: readonly string[]): string {
    const { dice } = this;
    if (this.#depth > 3 || dice.rarely(3)) {
      return columns.length > 0 && !dice.rarely(3) ? dice.one(...columns) : this.#value();
    }
    this.#depth++;
    const more = () => this.#expression(columns);
    const text = dice.one<() => string>(
      () => `(${more()} ${dice.one("+", "-", "*", "/", "%", "&", "|", "<<", ">>", "||")} ${more()})`,
      () =>
        `(${more()} ${
          dice.one("=", "<", ">=", "<>", "IS", "IS NOT", "IS DISTINCT FROM", "AND", "OR")
        } ${more()})`,
      () => `(${more()} ${dice.one("LIKE", "GLOB", "NOT LIKE")} ${dice.one("'%a%'", "'a*'", "'_'", more())})`,
      () =>
        `${
          dice.one("typeof", "quote", "length", "abs", "hex", "lower", "upper", "trim", "unicode", "sign")
        }(${more()})`,
      () => `${dice.one("coalesce", "ifnull", "nullif", "instr", "max", "min")}(${more()}, ${more()})`,
      () => `CASE WHEN ${more()} THEN ${more()} ELSE ${more()} END`,
      () => `CASE ${more()} WHEN ${more()} THEN ${more()} END`,
      () => `CAST(${more()} AS ${dice.one("INTEGER", "TEXT", "BLOB", "NUMERIC")})`,
      () => `(${more()} IN (${more()}, ${more()}))`,
      () => `(${more()} BETWEEN ${more()} AND ${more()})`,
      () => `(${more()} COLLATE NOCASE)`,
      () => `substr(${more()}, ${dice.one("1", "-2", "0", "2")}, ${dice.one("1", "-1", "3")})`,
      () => `replace(${more()}, 'a', ${more()})`,
      () => `json_array(${dice.one("1", "'a'", "NULL")}, ${dice.one("2.5", "json('[1]')")})`,
      () =>
        `json_extract('{"a":[1,"x",null,9007199254740993]}', ${
          dice.one("'$.a'", "'$.a[1]'", "'$.a[3]'", "'$'", "'$.b'", "'$['")
        })`,
      () => `(${this.#select(1, false, 1)})`,
      () => `EXISTS (${this.#select(1, false)})`,
      () => `(${more()} IN (${this.#select(1, false, 1)}))`,
      () => `iif(${more()}, ${more()}, ${more()})`,
      () => `printf('%d|%s|%x', ${dice.one("1", "-5", "'7'")}, ${dice.one("'a'", "NULL")}, 255)`,
      () => `((${more()}, 1) < (${more()}, 2))`,
      () => `date('2024-02-29', ${dice.one("'+1 year'", "'start of month'", "'weekday 0'", "'-1 month'")})`,
    )();
    this.#depth--;
    return text;
  }

  /** Something to select from, and the columns that it has. */
  #source(): { text: string; columns: string[] } {
    const { dice } = this;
    const kind = dice.below(10);
    if (kind === 0) return { text: "v0", columns: ["x", "y"] };
    if (kind === 1) return { text: "v1", columns: ["x", "n", "m"] };
    if (kind === 2) {
      return {
        text: `json_each('[1,"two",null,{"a":3.5},[true]]')`,
        columns: ["key", "value", "type", "atom"],
      };
    }
    if (kind === 3) {
      const { name } = this.#anyTable();
      return {
        text: `${quoted(name)} AS l ${dice.one("LEFT JOIN", "JOIN", "FULL JOIN")} log AS r ON l.a = r.n`,
        columns: ["l.a", "l.b", "r.n", "r.what"],
      };
    }
    if (kind === 4) {
      return {
        text: `(VALUES (1, 'a'), (${this.#value()}, ${this.#value()})) AS s`,
        columns: ["column1", "column2"],
      };
    }
    const { name, columns } = this.#anyTable();
    return { text: quoted(name), columns: columns.map(quoted) };
  }

  /** All its rows have one order where `isWhole`. */
  #select(compounds: number, isWhole: boolean, width = 1 + this.dice.below(4)): string {
    const { dice } = this;
    const parts: string[] = [];
    let hasWith = "";
    if (isWhole && dice.rarely(6)) {
      hasWith = dice.one(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) ",
        "WITH q AS MATERIALIZED (SELECT 1 AS z), r AS (SELECT z + 1 AS z FROM q) ",
      );
      if (dice.rarely(2)) return `${hasWith}SELECT * FROM ${hasWith.includes("n(i)") ? "n" : "q, r"}`;
    }
    for (let at = 0; at < Math.max(1, compounds); at++) {
      const { text, columns } = this.#source();
      const kind = dice.below(8);
      if (kind === 0 && isWhole && width > 1) {
        const group = this.#expression(columns);
        const cells = Array.from(
          { length: width },
          () =>
            dice.one(
              "count(*)",
              `sum(1)`,
              `max(${dice.one(...columns)})`,
              `count(DISTINCT ${dice.one(...columns)})`,
              `min(${dice.one(...columns)})`,
              `total(1)`,
            ),
        );
        parts.push(`SELECT ${cells.join(", ")} FROM ${text} GROUP BY ${group}`);
        break;
      }
      if (kind === 1 && isWhole) {
        const order = columns.join(", ");
        const cells = Array.from(
          { length: width },
          () =>
            `${
              dice.one(
                "row_number()",
                "rank()",
                "count(*)",
                `lag(${dice.one(...columns)})`,
                `first_value(${dice.one(...columns)})`,
                "ntile(2)",
              )
            } OVER (${dice.one("", `PARTITION BY ${dice.one(...columns)} `)}ORDER BY ${order})`,
        );
        parts.push(`SELECT ${cells.join(", ")} FROM ${text}`);
        break;
      }
      if (kind === 2 && isWhole) {
        parts.push(`SELECT ${dice.one("", "DISTINCT ")}* FROM ${text}`);
        break;
      }
      const cells = Array.from(
        { length: width },
        (_, cell) => this.#expression(columns) + dice.one("", "", ` AS c${cell}`, ` AS "C ${cell}"`),
      );
      const where = dice.rarely(2) ? ` WHERE ${this.#expression(columns)}` : "";
      parts.push(`SELECT ${dice.one("", "", "DISTINCT ")}${cells.join(", ")} FROM ${text}${where}`);
    }
    const joined = parts.join(` ${dice.one("UNION ALL", "UNION", "EXCEPT", "INTERSECT")} `);
    if (!isWhole) {
      return `${joined} ORDER BY ${Array.from({ length: width }, (_, at) => at + 1).join(", ")} LIMIT 1`;
    }
    return hasWith + joined;
  }

  #returning(columns: readonly string[]): string {
    const { dice } = this;
    if (!dice.rarely(3)) return "";
    return ` RETURNING ${
      dice.one(
        "*",
        columns.map(quoted).join(", "),
        `typeof(${quoted(dice.one(...columns))}) AS t`,
        this.#expression(columns.map(quoted)),
      )
    }`;
  }

  #insert(): string {
    const { dice } = this;
    const { name, columns, open, key } = this.#anyTable();
    const used = open.filter(() => !dice.rarely(4));
    if (used.length === 0 || dice.rarely(15)) {
      return `INSERT INTO ${quoted(name)} DEFAULT VALUES${this.#returning(columns)}`;
    }
    const or = dice.one("", "", "", "", " OR IGNORE", " OR REPLACE", " OR FAIL", " OR ABORT", " OR ROLLBACK");
    const head = `INSERT${or} INTO ${quoted(name)} (${used.map(quoted).join(", ")})`;
    if (dice.rarely(6)) return `${head} ${this.#select(1, false, used.length)}${this.#returning(columns)}`;
    const rows = dice.many(
      1,
      3,
      () => `(${used.map(() => dice.rarely(5) ? this.#expression([]) : this.#value()).join(", ")})`,
    );
    const target = key.length > 0 && !dice.rarely(3) ? ` (${key.map(quoted).join(", ")})` : "";
    const upsert = dice.rarely(3)
      ? ` ON CONFLICT${target} ${
        target === "" ? "DO NOTHING" : dice.one(
          "DO NOTHING",
          `DO UPDATE SET b = excluded.b`,
          `DO UPDATE SET (a, b) = (excluded.b, 1) WHERE b IS NOT excluded.b`,
        )
      }`
      : "";
    return `${head} VALUES ${rows.join(", ")}${upsert}${this.#returning(columns)}`;
  }

  #where(columns: readonly string[]): string {
    const { dice } = this;
    return dice.one<() => string>(
      () => "",
      () => ` WHERE a = ${this.#value()}`,
      () => ` WHERE ${quoted(dice.one(...columns))} IS ${this.#value()}`,
      () => ` WHERE ${this.#expression(columns.map(quoted))}`,
    )();
  }

  #update(): string {
    const { dice } = this;
    const { name, columns, open } = this.#anyTable();
    const or = dice.one("", "", "", " OR IGNORE", " OR REPLACE", " OR FAIL", " OR ROLLBACK");
    const sets = [`${quoted(dice.one(...open))} = ${this.#expression(columns.map(quoted))}`];
    if (dice.rarely(4)) sets.push("(a, b) = (b, a)");
    const from = dice.rarely(8) ? " FROM (SELECT 1 AS one) AS f" : "";
    return `UPDATE${or} ${quoted(name)} SET ${sets.join(", ")}${from}${this.#where(columns)}${
      this.#returning(columns)
    }`;
  }

  #delete(): string {
    const { name, columns } = this.#anyTable();
    return `DELETE FROM ${quoted(name)}${this.#where(columns)}${this.#returning(columns)}`;
  }
}
