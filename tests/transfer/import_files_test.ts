// What imported files may hold: dumps of other programs, texts in other encodings, and what is refused.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { testSteps } from "../testing/cases.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { strangersFile } from "./strangers_file.ts";
import { transferWorld } from "./transfer_world.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

const editSchema = (sql: string) => (db: DatabaseSync) => db.exec(`PRAGMA writable_schema = ON; ${sql}`);

testSteps("import of files", transferWorld, {
  "a file whose rows are all in the log beside it replaces nothing, and says how to copy it": async (
    world,
  ) => {
    await world.acme.setup("CREATE TABLE t (v)", "INSERT INTO t VALUES (1)");
    const folder = await Deno.makeTempDir();
    try {
      const path = `${folder}/app.db`;
      using app = new DatabaseSync(path);
      app.exec("PRAGMA journal_mode=WAL; CREATE TABLE t (v); INSERT INTO t VALUES (2)");
      const copied = await world.import("format=sqlite&mode=replace", await Deno.readFile(path));
      assertEquals([copied.status, copied.body.code], [400, "import_refused"], copied.text);
      assertMatch(copied.body.issues?.[0]?.message ?? "", /-wal: send the file that VACUUM INTO makes/);
      assertEquals(rowsOf(await world.acme.query("SELECT v FROM t")), [[1]]);
      app.exec(`VACUUM INTO '${folder}/whole.db'`);
      const whole = await world.import(
        "format=sqlite&mode=replace",
        await Deno.readFile(`${folder}/whole.db`),
      );
      assertEquals(whole.status, 200, whole.text);
      assertEquals(rowsOf(await world.acme.query("SELECT v FROM t")), [[2]]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },

  "a dump without a table replaces nothing, unless this service has written it": async (world) => {
    await world.acme.setup("CREATE TABLE t (v)", "INSERT INTO t VALUES (1)");
    const mistyped = "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCOMMIT;\n";
    for (const dump of ["\n-- nothing\n", mistyped]) {
      const answer = await world.import("format=sql&mode=replace", dump);
      assertEquals([answer.status, answer.body.code], [400, "import_refused"], answer.text);
      assertMatch(answer.body.issues?.[0]?.message ?? "", /has no table/);
      assertEquals(rowsOf(await world.acme.query("SELECT v FROM t")), [[1]]);
    }
    for (const format of ["sql", "sqlite"]) {
      await world.acme.setup("DROP TABLE t");
      const empty = await world.exported(`format=${format}`);
      await world.acme.setup("CREATE TABLE t (v)");
      const emptied = await world.import(`format=${format}&mode=replace`, empty);
      assertEquals(emptied.status, 200, emptied.text);
      assertEquals((await world.acme.query("SELECT v FROM t")).status, 400);
      await world.acme.setup("CREATE TABLE t (v)");
    }
  },

  "reads what sqlite3's .dump writes, full-text tables included": async (world) => {
    const dump = "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n" +
      "CREATE TABLE t(a, \"b;c\" TEXT);\nINSERT INTO t VALUES(1,'x;''y\n'),(2,NULL);\nINSERT INTO t VALUES(-1.5e3,X'00ff');\n" +
      "INSERT INTO \"t\" VALUES(3,replace('a\\nb','\\n',char(10)));\n" +
      "PRAGMA writable_schema=ON;\n" +
      "INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table','ft','ft',0,'CREATE VIRTUAL TABLE ft USING fts5(title, body)');\n" +
      "CREATE TABLE IF NOT EXISTS 'ft_data'(id INTEGER PRIMARY KEY, block BLOB);\nINSERT INTO ft_data VALUES(1,X'00');\n" +
      "CREATE TABLE IF NOT EXISTS 'ft_content'(id INTEGER PRIMARY KEY, c0, c1);\nINSERT INTO ft_content VALUES(7,'hello','big world');\n" +
      "CREATE TABLE IF NOT EXISTS 'ft_config'(k PRIMARY KEY, v) WITHOUT ROWID;\nINSERT INTO ft_config VALUES('version',4);\n" +
      "CREATE TABLE n(id INTEGER PRIMARY KEY AUTOINCREMENT);\nINSERT INTO n VALUES(3);\n" +
      "DELETE FROM sqlite_sequence;\nINSERT INTO sqlite_sequence VALUES('n',9);\n" +
      "CREATE TRIGGER tr AFTER INSERT ON t BEGIN SELECT 1; END;\nCREATE INDEX i ON t(a);\n" +
      "PRAGMA writable_schema=OFF;\nCOMMIT;\n";
    const answer = await world.import("format=sql&mode=create", dump);
    assertEquals(answer.status, 200, answer.text);
    const { acme } = world;
    assertEquals(rowsOf(await acme.query('SELECT a, typeof("b;c"), "b;c" FROM t ORDER BY rowid')), [
      [1, "text", "x;'y\n"],
      [2, "null", null],
      [-1500, "blob", { $blob: "AP8=" }],
      [3, "text", "a\nb"],
    ]);
    assertEquals(rowsOf(await acme.query("SELECT rowid, title FROM ft WHERE ft MATCH 'world'")), [[
      7,
      "hello",
    ]]);
    await acme.setup("INSERT INTO n DEFAULT VALUES");
    assertEquals(rowsOf(await acme.query("SELECT max(id) FROM n")), [[10]]);
  },

  "reads full-text tables of a .dump whose text has line ends, as older and newer versions of sqlite3 write it":
    async (world) => {
      const dump = "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nPRAGMA writable_schema=ON;\n" +
        "INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table','ft','ft',0,'CREATE VIRTUAL TABLE ft USING fts5(body)');\n" +
        "CREATE TABLE IF NOT EXISTS 'ft_content'(id INTEGER PRIMARY KEY, c0);\n" +
        String.raw`INSERT INTO ft_content VALUES(1,replace('one\ntwo','\n',char(10)));
INSERT INTO ft_content VALUES(2,replace(replace('one\015(\n0)two','\015',char(13)),'(\n0)',char(10)));
INSERT INTO ft_content VALUES(3,unistr('it''s\u000d\u000aC:\\u000a two'));
` + "PRAGMA writable_schema=OFF;\nCOMMIT;\n";
      const answer = await world.import("format=sql&mode=replace", dump);
      assertEquals(answer.status, 200, answer.text);
      assertEquals(
        rowsOf(await world.acme.query("SELECT rowid, body FROM ft WHERE ft MATCH 'two' ORDER BY rowid")),
        [[1, "one\ntwo"], [2, "one\r\ntwo"], [3, "it's\r\nC:\\u000a two"]],
      );
    },

  "reads R*Trees of a .dump with all that stands beside their boxes, and a table of a name like their storage":
    async (
      world,
    ) => {
      using source = new DatabaseSync(":memory:");
      source.exec(
        "CREATE VIRTUAL TABLE boxes USING rtree(id, min_x, max_x, min_y, max_y, +label TEXT, +more);" +
          "CREATE VIRTUAL TABLE spans USING rtree_i32(id, low, high);" +
          "WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO boxes " +
          "SELECT i, -i / 3.0, i, i % 7, 1000.5 + i, 'box ' || i, CASE WHEN i % 2 THEN x'00ff' END FROM n;" +
          "INSERT INTO spans VALUES (-5, -2147483648, 2147483647), (9007199254740993, 1, 1)",
      );
      const schema = (name: string) =>
        `SELECT 'INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES(''table'',''${name}'',''${name}'',0,' || ` +
        `quote(sql) || ');' FROM sqlite_schema WHERE name = '${name}'`;
      const rows = (table: string, columns: string) =>
        `SELECT 'INSERT INTO ${table} VALUES(' || concat_ws(',', ${columns}) || ');' FROM ${table}`;
      const lines = [
        ...[schema("boxes"), rows("boxes_rowid", "rowid, nodeno, quote(a0), quote(a1)")],
        ...[rows("boxes_node", "nodeno, quote(data)"), rows("boxes_parent", "nodeno, parentnode")],
        ...[schema("spans"), rows("spans_rowid", "rowid, nodeno"), rows("spans_node", "nodeno, quote(data)")],
      ].flatMap((sql) => source.prepare(sql).all().map((row) => String(Object.values(row)[0])));
      const dump = "BEGIN TRANSACTION;\nPRAGMA writable_schema=ON;\n" +
        lines.join("\n").replace(
          /^INSERT INTO boxes_rowid/m,
          "CREATE TABLE 'boxes_rowid'(rowid INTEGER PRIMARY KEY);\n$&",
        ) +
        "\nCREATE TABLE boxes_data(a);\nINSERT INTO boxes_data VALUES('mine');\nPRAGMA writable_schema=OFF;\nCOMMIT;\n";
      const answer = await world.import("format=sql&mode=create", dump);
      assertEquals(answer.status, 200, answer.text);
      const ask = async (sql: string) => rowsOf(await world.acme.query(sql));
      for (
        const sql of [
          "SELECT id, min_x, max_x, min_y, max_y, label, hex(more) FROM boxes ORDER BY id",
          "SELECT id FROM boxes WHERE min_x > -20 AND max_y < 1040 ORDER BY id",
          "SELECT CAST(id AS TEXT), low, high FROM spans ORDER BY id",
        ]
      ) assertEquals(await ask(sql), source.prepare(sql).all().map((row) => Object.values(row)), sql);
      assertEquals(await ask("SELECT a FROM boxes_data"), [["mine"]]);
    },

  "takes a file in UTF-16 and names what it cannot keep": async (world) => {
    const file = strangersFile(
      "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (v TEXT); INSERT INTO t VALUES ('žluť 🐎'), ('a' || char(0) || 'b'); " +
        "CREATE VIRTUAL TABLE old USING fts4(body); INSERT INTO old VALUES ('x'); ANALYZE; " +
        "CREATE TABLE _service_meta_mine (v); INSERT INTO _service_meta_mine VALUES (1); " +
        "CREATE TABLE _service_meta_audit (id)",
    );
    const answer = await world.import("format=sqlite&mode=create", file);
    assertEquals(answer.status, 200, answer.text);
    assertEquals((answer.body.data as Record<string, unknown>)["notKept"], [
      "table old: the module fts4 is not available",
      "table _service_meta_mine: names that begin with _service_meta_ belong to the service",
    ]);
    assertEquals(rowsOf(await world.acme.query("SELECT hex(v) FROM t")), [
      ["C5BE6C75C5A520F09F908E"],
      ["610062"],
    ]);
  },

  "of what no engine has written, or what no tenant may have, is refused with its place and changes nothing":
    async (world) => {
      const { acme } = world;
      await acme.setup("CREATE TABLE kept (v)", "INSERT INTO kept VALUES (1)");
      const before = await world.exported("format=sqlite");
      const whole = strangersFile(
        "CREATE TABLE t (v); INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) " +
          "SELECT i || 'some text' FROM n",
      );
      const damaged = whole.slice();
      damaged.fill(0xff, 4096, 12_000);
      const lying = whole.slice();
      new DataView(lying.buffer).setUint32(28, 999_999);
      const hostile: readonly (readonly [format: string, body: unknown, says: RegExp])[] = [
        ["sqlite", "no database", /not a database/],
        ["sqlite", whole.slice(0, 20_000), /malformed|missing|page|disk image/i],
        ["sqlite", damaged, /malformed|page|tree/i],
        [
          "sqlite",
          strangersFile(
            "CREATE TABLE t (v); CREATE TABLE u (v)",
            editSchema(
              "UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'u'",
            ),
          ),
          /./,
        ],
        [
          "sqlite",
          strangersFile(
            "CREATE TABLE t (v)",
            editSchema(
              "UPDATE sqlite_schema SET sql = 'CREATE TABLE t (v); DROP TABLE t'",
            ),
          ),
          /./,
        ],
        [
          "sqlite",
          strangersFile(
            "CREATE TABLE t (v)",
            editSchema(
              "INSERT INTO sqlite_schema VALUES ('trigger', 'x', 't', 0, 'CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT writefile(''/tmp/x'', ''y''); END')",
            ),
          ),
          /writefile/,
        ],
        [
          "sqlite",
          strangersFile(
            "CREATE TABLE t (v)",
            editSchema(
              "INSERT INTO sqlite_schema VALUES ('view', 'v', 'v', 0, 'CREATE VIEW v AS SELECT load_extension(''x'')')",
            ),
          ),
          /load_extension/,
        ],
        [
          "sqlite",
          strangersFile(
            "CREATE TABLE t (v)",
            editSchema(
              "INSERT INTO sqlite_schema VALUES ('view', 'v', 'v', 0, 'CREATE VIEW v AS SELECT * FROM _service_meta_replay')",
            ),
          ),
          /_service_meta_replay/,
        ],
        [
          "sql",
          "PRAGMA writable_schema=ON;\nINSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES" +
          "('table','r','r',0,'CREATE VIRTUAL TABLE r USING rtree(id, a, b)');\n" +
          "INSERT INTO r_rowid VALUES(1,1),(2,1);\nINSERT INTO r_node VALUES(1,X'0000000100000000000000013f8000003f800000');\n",
          /rows of the table r are not whole in the dump; send the SQLite file/,
        ],
        [
          "sqlite",
          strangersFile(
            "PRAGMA foreign_keys = OFF; CREATE TABLE p (id INTEGER PRIMARY KEY); " +
              "CREATE TABLE c (p REFERENCES p); INSERT INTO c VALUES (7)",
          ),
          /refers to a row of p that is not there; foreign_keys=off takes such rows/,
        ],
        ["sql", "CREATE TABLE t (v);\nINSERT INTO t VALUES (1);\nATTACH 'x' AS y;\n", /ATTACH/],
        ["sql", "CREATE TABLE t (v);\n\n-- said; here\nUPDATE t SET v = 1;\n", /UPDATE is no statement/],
        ["sql", "CREATE TABLE t (v);\nINSERT INTO t VALUES (writefile('/tmp/x', 'y'));\n", /writefile/],
        ["sql", "CREATE TABLE _service_meta_audit (v);\n", /_service_meta_audit/],
        ["sql", "CREATE VIEW pragma_table_list AS SELECT 1;\n", /the name pragma_table_list/],
        [
          "sqlite",
          strangersFile("CREATE VIEW pragma_table_list AS SELECT 1"),
          /the name pragma_table_list: rename the view/,
        ],
        ["sqlite", strangersFile("CREATE TABLE json_each (v)"), /the name json_each: rename the table/],
        // One line that would run until the disk is full, or for ever.
        ...[
          "INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT zeroblob(999) FROM n",
          "INSERT INTO t VALUES ((WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n))",
          "INSERT INTO t SELECT a.v FROM t AS a, t AS b",
          "INSERT INTO t VALUES (7 IN t)",
        ].map((sql) =>
          [
            "sql",
            `CREATE TABLE t (v);\nINSERT INTO t VALUES (1),(2);\n${sql};\n`,
            /have its rows in it/,
          ] as const
        ),
        ["sql", "BEGIN;\nCREATE TABLE t (v);\nINSERT INTO t VALUES (1);\n", /cut/],
        ["sql", "CREATE TABLE t (v);\nINSERT INTO t VALUES ('no end", /no end/],
        [
          "sql",
          "CREATE TABLE t (v UNIQUE);\nINSERT INTO t VALUES (1);\nINSERT INTO t VALUES (1);\n",
          /UNIQUE/,
        ],
        ["sql", "INSERT INTO nowhere VALUES (1);\n", /no such table: nowhere; .* is sent as a migration/],
        ["sql", Uint8Array.of(0x43, 0xff, 0xfe), /UTF-8/],
        [
          "sql",
          text(await world.exported("format=sql")).replace(/COMMIT;\n.*\n$/, "COMMIT;\n"),
          /last line is missing/,
        ],
        [
          "sql",
          text(await world.exported("format=sql")).replace(/INSERT.*\n/, ""),
          /0 rows and says that it has 1/,
        ],
        [
          "sql",
          "PRAGMA writable_schema=ON;\nINSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES" +
          "('table','r','r',0,'CREATE VIRTUAL TABLE r USING rtree(id, a, b)');\n" +
          "INSERT INTO r_rowid VALUES(1,1);\nINSERT INTO r_node VALUES(1,X'0000ffff0000000000000001');\n",
          /rows of the table r are not whole in the dump; send the SQLite file/,
        ],
        // The engine cannot open the index without its settings.
        [
          "sqlite",
          strangersFile(
            "CREATE VIRTUAL TABLE ft USING fts5(a); INSERT INTO ft VALUES ('x'); DELETE FROM ft_config",
          ),
          /fts5/,
        ],
        [
          "sqlite",
          strangersFile(
            "CREATE VIRTUAL TABLE r USING rtree(id, a, b); INSERT INTO r VALUES (1, 2, 3); UPDATE r_node SET data = x'00'",
          ),
          /undersize RTree blobs/i,
        ],
      ];
      for (const [format, body, says] of hostile) {
        const answer = await world.import(`format=${format}&mode=replace`, body);
        assertEquals([answer.status, answer.body.code], [400, "import_refused"], `${says}: ${answer.text}`);
        assert(says.test(answer.text), `${says}: ${answer.text}`);
      }
      const inLine = await world.import("format=sql&mode=replace", hostile[11]?.[1]);
      assertEquals(inLine.body.issues?.[0]?.path, "line 4");
      assertEquals(await world.exported("format=sqlite"), before);
      const snapshots = await world.app.request("GET", `${acme.database.path}/snapshots`, {
        token: acme.token,
      });
      assert(!snapshots.text.includes("-import-"), snapshots.text);
      const lied = await world.import("format=sqlite&mode=replace", lying);
      assert([200, 400].includes(lied.status), lied.text);
    },

  "of a dump says the line of the statement that cannot be taken, however many rows stand before it": async (
    world,
  ) => {
    const inserts = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, at) => `INSERT INTO t VALUES (${from + at});\n`).join("");
    const made = "CREATE TABLE t (a INTEGER NOT NULL UNIQUE CHECK (a <> 777));\n";
    for (
      const [dump, line, says] of [
        [made + inserts(1, 1000), 778, /CHECK constraint failed/],
        [made + inserts(1, 600) + "INSERT INTO t VALUES (5);\n", 602, /UNIQUE constraint failed/],
        [
          made + "INSERT INTO t VALUES (1);\nINSERT INTO t VALUES (2),\n(NULL);\n",
          3,
          /NOT NULL constraint failed/,
        ],
        [made + "INSERT INTO other VALUES (1);\n", 2, /no such table: other"/],
      ] as const
    ) {
      const { status, body, text } = await world.import("format=sql&mode=replace", dump);
      assertEquals([status, body.issues?.[0]?.path], [400, `line ${line}`], text);
      assert(says.test(text), text);
    }
  },

  "of full-text tables without rows keeps them empty and says so, and names records of migrations that go":
    async (
      world,
    ) => {
      const { acme, app } = world;
      await app.request("POST", `${acme.database.path}/migrations`, {
        token: acme.token,
        body: { files: [{ name: "1.sql", sql: "CREATE TABLE gone (v)" }] },
      });
      const made = "CREATE TABLE t (v); CREATE VIRTUAL TABLE f USING fts5(a, content = '');";
      const trigger =
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO f (rowid, a) VALUES (new.rowid, new.v); END;";
      const file = strangersFile(`${made} INSERT INTO f (rowid, a) VALUES (1, 'old'); ${trigger}`);
      const said = [
        "the rows of the index f: it has none to be built of, and is empty",
        "the 1 records of migrations: record a baseline of the files that are in effect now",
      ];
      const dump = "CREATE TABLE t (v);\nPRAGMA writable_schema=ON;\n" +
        "INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table','f','f',0," +
        "'CREATE VIRTUAL TABLE f USING fts5(a, content = '''')');\n" +
        "CREATE TABLE IF NOT EXISTS 'f_docsize'(id INTEGER PRIMARY KEY, sz BLOB);\n" +
        `INSERT INTO f_docsize VALUES(1,X'01');\n${trigger}\nPRAGMA writable_schema=OFF;\n`;
      for (const [format, body] of [["sqlite", file], ["sql", dump]] as const) {
        const answer = await world.import(`format=${format}&mode=replace`, body);
        assertEquals(answer.status, 200, answer.text);
        assertEquals(
          (answer.body.data as Record<string, unknown>)["notKept"],
          format === "sqlite" ? said : said.slice(0, 1),
        );
        await acme.setup("INSERT INTO t VALUES ('fresh')");
        assertEquals(rowsOf(await acme.query("SELECT rowid FROM f WHERE f MATCH 'fresh OR old'")), [[1]]);
      }
    },

  "of a dump of Turso leaves its index of vectors out and says so; the vectors and other indexes come in":
    async (world) => {
      const dump =
        "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE films (id INTEGER PRIMARY KEY, near F32_BLOB(2));\n" +
        "INSERT INTO films VALUES(1,X'0000803f00000040');\nCREATE INDEX films_near ON films (libsql_vector_idx(near, 'metric=cosine'));\n" +
        "CREATE INDEX films_plain ON films (near);\nCOMMIT;\n";
      const answer = await world.import("format=sql&mode=replace", dump);
      assertEquals(answer.status, 200, answer.text);
      assertEquals((answer.body.data as Record<string, unknown>)["notKept"], [
        "index films_near: it is one of vectors; they stay as BLOBs",
      ]);
      assertEquals(rowsOf(await world.acme.query("SELECT hex(near) FROM films")), [["0000803F00000040"]]);
      assertEquals(
        rowsOf(
          await world.acme.query(
            "SELECT name FROM sqlite_schema WHERE tbl_name = 'films' AND type = 'index'",
          ),
        ),
        [["films_plain"]],
      );
    },
  "and export take as many columns as an engine has, views that mean each other, and no more": async (
    world,
  ) => {
    const { acme } = world;
    const wide = (count: number) => {
      const value = (at: number) =>
        at % 3 === 0 ? `x'0${at % 10}'` : at % 3 === 1 ? `'ž${at}'` : "CAST(X'610062' AS TEXT)";
      const columns = Array.from({ length: count }, (_, at) => at);
      return `CREATE TABLE wide (${columns.map((at) => `c${at}`).join(", ")});\n` +
        `INSERT INTO wide VALUES (${columns.map(value).join(", ")});\n`;
    };
    const views = "CREATE VIEW a AS SELECT * FROM b;\nCREATE VIEW b AS SELECT * FROM a;\n";
    const answer = await world.import(
      "format=sql&mode=create",
      `${wide(1000)}${views}CREATE TABLE last (v);\n`,
    );
    assertEquals(answer.status, 200, answer.text);
    for (const format of ["sqlite", "sql"] as const) {
      const { path } = await acme.createDatabase(`wide-${format}`);
      const file = await world.exported(`format=${format}`);
      const back = await world.import(`format=${format}&mode=create`, file, { path });
      assertEquals(back.status, 200, back.text);
      assertEquals(await world.exported(`format=${format}`, { path }), file);
    }
    const [, line = ""] = text(await world.exported("format=csv&table=wide")).split("\r\n");
    assertEquals(line.split(",").slice(0, 3), ["AA==", "ž1", '"a\0b"']);
    for (const [format, body] of [["sqlite", strangersFile(wide(2000))], ["sql", wide(2000)]] as const) {
      const refused = await world.import(`format=${format}&mode=replace`, body);
      assert(/import_refused.*too many columns/.test(refused.text), refused.text);
    }
    const names = Array.from({ length: 1_000_000 }, (_, at) => `c${at}`).join();
    const million = await world.import("format=sql&mode=replace", `CREATE TABLE t (${names});`);
    assertEquals([million.status, million.body.code], [400, "import_refused"], million.text.slice(0, 300));
    const cells = await world.import("format=csv&mode=append&table=last", `${names}\n1\n`);
    assertEquals([cells.status, cells.body.code], [400, "import_refused"], cells.text.slice(0, 300));
  },

  "of ndjson keeps every digit of an integer, and texts as they are": async (world) => {
    const { acme } = world;
    await acme.setup("CREATE TABLE t (id INTEGER, r REAL, v TEXT)");
    const lines = [
      '{"id":9007199254740993,"r":0.1234567890123456789,"v":"\\"9007199254740993"}',
      '{"id": -9223372036854775808,"r":1e300,"v":"\\\\\\"a:1234567890123456789,"}',
      '{"id":1234567890123456800,"r":12345678901234567890,"v":null}',
    ];
    const answer = await world.import("format=ndjson&mode=append&table=t", lines.join("\n"));
    assertEquals(answer.status, 200, answer.text);
    const sql = "SELECT typeof(id), CAST(id AS TEXT), typeof(r), v FROM t ORDER BY rowid";
    assertEquals(rowsOf(await acme.query(sql)), [
      ["integer", "9007199254740993", "real", '"9007199254740993'],
      ["integer", "-9223372036854775808", "real", '\\"a:1234567890123456789,'],
      ["integer", "1234567890123456800", "real", null],
    ]);
  },

  "refuses what it does not know, and what is compressed": async (world) => {
    for (
      const [query, path] of [
        ["format=sql&mode=append", "mode"],
        ["format=csv&mode=create&table=t", "mode"],
        ["format=csv&mode=append", "table"],
        ["format=sql&mode=create&tabel=t", "tabel"],
        ["format=sql", "mode"],
      ]
    ) {
      const answer = await world.import(query ?? "", "x");
      assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, path], answer.text);
    }
    const packed = await world.import("format=sql&mode=create", "x", {
      headers: { "content-encoding": "gzip" },
    });
    assertEquals(packed.body.issues?.[0]?.path, "Content-Encoding");
    const zipped = new Response("CREATE TABLE t (v);").body?.pipeThrough(new CompressionStream("gzip"));
    const gzip = new Uint8Array(await new Response(zipped).arrayBuffer());
    for (const format of ["sql", "sqlite"]) {
      const { body } = await world.import(`format=${format}&mode=create`, gzip);
      assertMatch(body.issues?.[0]?.message ?? "", /compressed by gzip; unpack it/, format);
    }
    const bytes = (...of: number[]) => new Uint8Array(of);
    const latin1 = new TextEncoder().encode("CREATE TABLE t (v);INSERT INTO t VALUES ('?');").map((byte) =>
      byte === 0x3f ? 0xe9 : byte
    );
    const form = await world.import("format=sql&mode=create", "--x\r\n\r\nSELECT 1\r\n--x--\r\n", {
      headers: { "content-type": "multipart/form-data; boundary=x" },
    });
    assertEquals([form.body.code, form.body.issues?.[0]?.path], ["validation_failed", "Content-Type"]);
    for (
      const [format, file, path, message] of [
        ["sql", "-- MySQL dump 10.13\nINSERT INTO t VALUES ('a\\'b');\n", "file", /MySQL.* csv or ndjson$/],
        ["sql", "/*M!999999\\- enable the sandbox mode */\n", "file", /MariaDB.* csv or ndjson$/],
        ["sql", "-- PostgreSQL\nSET lock_timeout = 0;\n", "line 2", /^SET .* csv or ndjson$/],
        [
          "sql",
          "-- PostgreSQL\n\n\\restrict aB3\n\nSET lock_timeout = 0;\n",
          "line 3",
          /^\\RESTRICT .* csv or ndjson$/,
        ],
        ["sql", "BEGIN;\nDROP TABLE IF EXISTS t;\n", "line 2", /^DROP .*: take it out, .* csv or ndjson$/],
        ["sql", "PGDMP\x01\x0e\xff", "file", /PostgreSQL.* csv or ndjson$/],
        ["sqlite", "PGDMP\x01\x0e\xff", "file", /PostgreSQL.* csv or ndjson$/],
        ["sql", bytes(0xff, 0xfe, 0x50, 0, 0x52, 0), "file", /UTF-16.* PowerShell .* save it as UTF-8/],
        ["sql", bytes(...latin1), "behind line 1", /not UTF-8; .* format=sqlite$/],
        [
          "sqlite",
          strangersFile("CREATE TABLE big (v); INSERT INTO big VALUES (zeroblob(20000001))"),
          "file",
          /^table big: .* 20000000 bytes$/,
        ],
        ["sql", "SQLite format 3\0\x10\0", "file", /format=sqlite$/],
        ["sqlite", "CREATE TABLE t (v);", "file", /format=sql$/],
      ] as const
    ) {
      const { body } = await world.import(`format=${format}&mode=create`, file);
      const [issue] = body.issues ?? [];
      assertEquals([body.code, issue?.path], ["import_refused", path], String(file));
      assertMatch(issue?.message ?? "", message);
    }
  },
});
