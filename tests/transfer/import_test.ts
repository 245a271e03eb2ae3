// Imports: what was exported comes back as it was, what cannot be taken changes nothing, and there is an undo.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { testSteps } from "../testing/cases.ts";
import { member, rowsOf } from "../testing/test_namespace.ts";
import { kinds } from "./kinds.ts";
import { strangersFile } from "./strangers_file.ts";
import { transferWorld } from "./transfer_world.ts";

testSteps("import", transferWorld, {
  "of sqlite and of sql brings back every kind of object and value, and exports the same bytes": async (
    world,
  ) => {
    await world.acme.setup(...kinds);
    const file = await world.exported("format=sqlite");
    const sql = await world.exported("format=sql");
    for (const [format, body] of [["sqlite", file], ["sql", sql]] as const) {
      const { path } = await world.acme.createDatabase(`from-${format}`);
      const answer = await world.import(`format=${format}&mode=create`, body, { path });
      assertEquals(answer.status, 200, answer.text);
      const { tables, rows, notKept } = answer.body.data as Record<string, unknown>;
      assertEquals([tables, rows, notKept], [16, 37, []]);
      assertEquals(await world.exported("format=sqlite", { path }), file, format);
      assertEquals(await world.exported("format=sql", { path }), sql, format);
    }
  },

  "a file that is refused while it is read is paid as a request, one that cannot be meant is not": async (
    world,
  ) => {
    const { acme, app } = world;
    await acme.setup("CREATE TABLE t (v)");
    const requests = async () => {
      await app.deps.query.meter.tick();
      const answer = await app.request("GET", `/api/namespaces/${acme.slug}/usage`, { token: acme.token });
      return (answer.body.data as { requests: number }[]).reduce((sum, one) => sum + one.requests, 0);
    };
    const before = await requests();
    const bad = "CREATE TABLE x (a); INSERT INTO x VALUES (1); INSERT INTO nowhere VALUES (1);";
    const refused = await world.import("format=sql&mode=replace", bad);
    assertEquals([refused.status, refused.body.code], [400, "import_refused"], refused.text);
    assertEquals(await requests() - before, 1);
    assertEquals((await world.import("format=sql&mode=create", bad)).body.issues?.[0]?.path, "mode");
    assertEquals(await requests() - before, 1);
  },

  "replaces all of a database, with an undo, one row in the log and one audit row": async (world) => {
    const { acme, app } = world;
    await acme.setup("CREATE TABLE old (v)", "INSERT INTO old VALUES ('mine')");
    const file = strangersFile("CREATE TABLE fresh (v); INSERT INTO fresh VALUES (1), (2)");
    const refused = await world.import("format=sqlite&mode=create", file);
    assertEquals([refused.status, refused.body.issues?.[0]?.path], [400, "mode"]);
    const answer = await world.import("format=sqlite&mode=replace", file);
    assertEquals(answer.status, 200, answer.text);
    assertEquals(rowsOf(await acme.query("SELECT v FROM fresh")), [[1], [2]]);
    assertEquals((await acme.query("SELECT * FROM old")).status, 400);
    assertEquals(
      rowsOf(
        await acme.query(
          "SELECT l.operation, l.status, l.rows_written, l.sql, a.tables FROM _service_meta_query_log l LEFT JOIN _service_meta_audit a " +
            "ON a.query_log_id = l.id WHERE l.operation = 'import' ORDER BY l.id",
        ),
      ),
      [
        ["import", "error", 0, "-- import of sqlite: create", null],
        ["import", "ok", 2, "-- import of sqlite: replace", '["fresh","old"]'],
      ],
    );
    const undo = member(answer, "snapshot");
    const back = await app.request("POST", `${acme.database.path}/restore`, {
      token: acme.token,
      body: { snapshot: undo },
    });
    assertEquals(back.status, 200, back.text);
    assertEquals(rowsOf(await acme.query("SELECT v FROM old")), [["mine"]]);
  },

  "takes a table whose key fits no index, as SQLite does, and still finds rows of others that refer to no row":
    async (
      { import: bring, exported },
    ) => {
      const odd =
        "CREATE TABLE p (a);\nCREATE TABLE c (x REFERENCES p);\nCREATE TABLE d (x REFERENCES c(x));\n" +
        "CREATE TABLE k (id INTEGER PRIMARY KEY);\nCREATE TABLE r (k REFERENCES k);\n";
      const taken = await bring("format=sql&mode=create", odd);
      assertEquals(taken.status, 200, taken.text);
      for (const format of ["sql", "sqlite"]) {
        const file = await exported(`format=${format}`);
        const again = await bring(`format=${format}&mode=replace`, file);
        assertEquals(again.status, 200, again.text);
      }
      const broken = await bring("format=sql&mode=replace", `${odd}INSERT INTO r VALUES (7);\n`);
      assertEquals(broken.status, 400, broken.text);
      assertMatch(
        String(broken.body.issues?.[0]?.message),
        /a row of r \(rowid 1\) refers to a row of k that is not there/,
      );
    },

  "appends rows of csv and ndjson by the table's columns, once each when the file is sent again": async (
    world,
  ) => {
    const { acme } = world;
    await acme.setup(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT DEFAULT 'none', price REAL, pic BLOB, v)",
    );
    const csv = 'id,Name,price,pic,v\r\n1,"a,""b""\nc",1.50,AP8=,x\r\n2,"",,,7\r\n3,,2,,\r\n';
    const answer = await world.import("format=csv&mode=append&table=T&id=one", csv);
    assertEquals(answer.status, 200, answer.text);
    assertEquals((answer.body.data as Record<string, unknown>)["rows"], 3);
    const again = await world.import("format=csv&mode=append&table=t&id=one", csv);
    assertEquals(again.status, 200, again.text);
    const ndjson =
      '{"id":4,"v":9007199254740993.5}\n{"id":5,"name":null,"pic":{"$blob":"AP8="}}\n\n{"id":6,"v":true}';
    assertEquals((await world.import("format=ndjson&mode=append&table=t", ndjson)).status, 200);
    assertEquals(rowsOf(await acme.query("SELECT *, typeof(v) FROM t ORDER BY id")), [
      [1, 'a,"b"\nc', 1.5, { $blob: "AP8=" }, "x", "text"],
      [2, "", null, null, "7", "text"],
      [3, null, 2, null, null, "null"],
      [4, "none", null, null, 9007199254740994, "real"],
      [5, null, null, { $blob: "AP8=" }, null, "null"],
      [6, "none", null, null, 1, "integer"],
    ]);
    const other = await world.import("format=csv&mode=append&table=t&id=one", csv.replace("2,", "8,"));
    assertEquals(other.body.code, "replay_mismatch");
  },

  "makes no NULL of a number beyond every REAL": async (world) => {
    const { acme } = world;
    await acme.setup("CREATE TABLE t (r REAL, n NUMERIC, i INTEGER)");
    const csv = await world.import("format=csv&mode=append&table=t", "r,n,i\n1e999,-1e999,1E+400\n");
    assertEquals(csv.status, 200, csv.text);
    assertEquals(rowsOf(await acme.query("SELECT r = 9e999, n = -9e999, i = 9e999 FROM t")), [[1, 1, 1]]);
    const ndjson = await world.import("format=ndjson&mode=append&table=t", '{"r":1}\n{"r":-1e999}\n');
    assertEquals([ndjson.status, ndjson.body.issues?.[0]?.path], [400, "line 2, column r"], ndjson.text);
    assertEquals(rowsOf(await acme.query("SELECT count(*) FROM t")), [[1]]);
  },

  "takes back the infinite values that an export has written": async (world) => {
    const { acme } = world;
    const columns = "id INTEGER PRIMARY KEY, r REAL, n NUMERIC, i INTEGER, t TEXT, v";
    await acme.setup(
      `CREATE TABLE t (${columns})`,
      "INSERT INTO t VALUES (1, 9e999, -9e999, 9e999, 'Infinity', 'Infinity'), (2, -9e999, 9e999, -9e999, NULL, '-Infinity')",
    );
    for (const format of ["csv", "ndjson"]) {
      const file = await world.exported(`format=${format}&table=t`);
      await acme.setup(`CREATE TABLE ${format} (${columns})`);
      const imported = await world.import(`format=${format}&mode=append&table=${format}`, file);
      assertEquals(imported.status, 200, imported.text);
      const missing = `SELECT * FROM t EXCEPT SELECT * FROM ${format}`;
      assertEquals(rowsOf(await acme.query(missing)), [], format);
      const kinds =
        `SELECT group_concat(typeof(r) || typeof(n) || typeof(i) || typeof(t) || typeof(v)) FROM ${format}`;
      assertEquals(rowsOf(await acme.query(kinds)), [["realrealrealtexttext,realrealrealnulltext"]], format);
    }
    const word = await world.import("format=csv&mode=append&table=t", "r\nInfinity\n-Infinity\n");
    assertEquals(word.status, 200, word.text);
    assertEquals(rowsOf(await acme.query("SELECT r = 9e999, r = -9e999 FROM t WHERE id > 2")), [[1, 0], [
      0,
      1,
    ]]);
  },

  "of csv and ndjson tells line and column of what is wrong, and keeps nothing of that transaction": async (
    world,
  ) => {
    const { acme } = world;
    await acme.setup("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, b BLOB)");
    const cases = [
      ["csv", "id,n\n1,2\n2,x\n", "line 3, column n"],
      ["csv", "id,n\n1,2\n2,3,4\n", "line 3"],
      ["csv", "id,m\n1,2\n", "line 1, cell 2"],
      ["csv", "id,id\n1,2\n", "line 1"],
      ["csv", "\uFEFFid;n\n1;2\n", "line 1"],
      ["csv", "", "body"],
      ["csv", 'id,n\n1,"2', "line 2"],
      ["csv", 'id,n\n1,"2"x\n', "line 2"],
      ["csv", "id,n,b\n1,2,!!\n", "line 2, column b"],
      ["csv", 'id,n\n"1\n\n",2\n', "line 2, column id"],
      ["csv", "id,n\n1,2\n1,3\n", "line 3"],
      ["csv", "id,n\n1,2\n2,\n", "line 3"],
      ["ndjson", '{"id":1,"n":2}\n[1]\n', "line 2"],
      ["ndjson", '{"id":1,"n":[2]}\n', "line 1, column n"],
      ["ndjson", '{"id":1,"x":2}\n', "line 1"],
    ];
    for (const [format, body, place] of cases) {
      const answer = await world.import(`format=${format}&mode=append&table=t`, body);
      assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, place], `${body}: ${answer.text}`);
    }
    for (const [mark, name] of [[";", 'by ";"'], ["\t", "by tabs"], ["|", 'by "|"']] as const) {
      const { body: { issues } } = await world.import(
        "format=csv&mode=append&table=t",
        `id${mark}"n"\n1${mark}2\n`,
      );
      assertEquals(issues?.[0], {
        path: "line 1",
        message:
          `the cells are divided ${name}; divide them by commas, and put quotes around a cell that has one`,
      });
    }
    assertEquals(rowsOf(await acme.query("SELECT count(*) FROM t")), [[0]]);
    assertEquals(
      (await world.import("format=csv&mode=append&table=nope", "a\n1")).body.issues?.[0]?.path,
      "table",
    );
  },

  "of a token that is revoked while its file comes in writes nothing further": async (world) => {
    const { acme } = world;
    await acme.setup("CREATE TABLE t (id INTEGER PRIMARY KEY)");
    const count = async () => rowsOf(await acme.query("SELECT count(*) FROM t"))[0]?.[0];
    const lines = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, at) => `{"id":${from + at}}\n`).join("");
    const rest: readonly [query: string, begins: string, isTime: () => Promise<boolean>, ends: string][] = [
      // As many as one transaction takes, and then as many again.
      [
        "format=ndjson&mode=append&table=t",
        lines(1, 5001),
        async () => await count() === 5000,
        lines(5002, 10_001),
      ],
      [
        "format=sql&mode=replace",
        "CREATE TABLE u (v);\n",
        () => Promise.resolve(true),
        "INSERT INTO u VALUES (1);\n",
      ],
    ];
    for (const [query, begins, isTime, ends] of rest) {
      const admin = await acme.mint("admin");
      const pieces = [
        () => Promise.resolve(begins),
        async () => {
          while (!await isTime());
          const { status } = await world.app.request(
            "DELETE",
            `/api/namespaces/${acme.slug}/tokens/${admin.id}`,
            {
              token: acme.token,
            },
          );
          assertEquals(status, 200);
          return ends;
        },
      ];
      const body = new ReadableStream<string>({
        pull: async (controller) => {
          const piece = pieces.shift();
          if (piece === undefined) controller.close();
          else controller.enqueue(await piece());
        },
      }, { highWaterMark: 0 });
      const answer = await world.app.app.request(`${acme.database.path}/import?${query}`, {
        method: "POST",
        headers: { authorization: `Bearer ${admin.token}` },
        body: body.pipeThrough(new TextEncoderStream()),
      });
      assertEquals([answer.status, (await answer.json()).code], [401, "invalid_bearer"], query);
      assertEquals(await count(), 5000);
    }
  },

  "is for admins, and for rules a write to each table that changes": async (world) => {
    const { acme, app } = world;
    await acme.setup("CREATE TABLE orders (v)", "INSERT INTO orders VALUES (1)");
    const file = strangersFile("CREATE TABLE orders (v); INSERT INTO orders VALUES (2)");
    const writer = await acme.mint("write");
    for (const query of ["format=sqlite&mode=replace", "format=csv&mode=append&table=orders"]) {
      assertEquals((await world.import(query, file, { token: writer.token })).body.code, "role_too_low");
    }
    const rules = `/api/namespaces/${acme.slug}/databases/main/rules`;
    const rule = await app.request("POST", rules, {
      token: acme.token,
      body: { tableGlob: "orders", effect: "deny" },
    });
    assertEquals(rule.status, 201, rule.text);
    assertEquals((await world.import("format=sqlite&mode=replace", file)).body.code, "rule_denied");
    assertEquals(
      (await world.import("format=csv&mode=append&table=orders", "v\n3\n")).body.code,
      "rule_denied",
    );
    const changed = await app.request("PATCH", `${rules}/${member(rule, "id")}`, {
      token: acme.token,
      body: { effect: "require_approval" },
    });
    assertEquals(changed.status, 200, changed.text);
    const held = await world.import("format=sqlite&mode=replace", file);
    assertEquals([held.status, held.body.code], [403, "approval_required"]);
    const { approvalUrl, approvalToken } = JSON.parse(held.text);
    const approve = `/api/namespaces/${acme.slug}/approvals/${approvalUrl.split("/").at(-1)}/approve`;
    const approved = await app.request("POST", approve, { token: app.operatorKey });
    assertEquals(approved.status, 200, approved.text);
    const redeemed = await app.request("POST", `${acme.database.path}/redeem_approval`, {
      token: acme.token,
      body: { approvalToken },
    });
    assertEquals(redeemed.status, 200, redeemed.text);
    assertEquals(rowsOf(await acme.query("SELECT v FROM orders")), [[2]]);
    const log = "SELECT operation, error_kind, rows_written FROM _service_meta_query_log " +
      "WHERE operation = 'restore' OR sql = '-- import of sqlite: replace' ORDER BY id";
    assertEquals(rowsOf(await acme.query(log)), [
      ["import", "rule_denied", 1],
      ["import", "approval_required", 1],
      ["restore", null, 0],
    ]);
  },

  "tells admins how far it is under its id, and is cancelled while it comes in or is built": async (
    world,
  ) => {
    const { acme, app } = world;
    await acme.setup("CREATE TABLE mine (v)");
    const ask = (method: string, id: string, token = acme.token) =>
      app.request(method, `${acme.database.path}/imports/${id}`, { token });
    const dump = new TextEncoder().encode("CREATE TABLE t (v);\nINSERT INTO t VALUES (1);\n");
    const begun = Promise.withResolvers<void>();
    const slow = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(dump),
      pull: async () => {
        begun.resolve();
        await new Promise(() => {});
      },
    }, { highWaterMark: 0 });
    const sending = world.import("format=sql&mode=replace&id=a/b", slow);
    await begun.promise;
    const told = (await ask("GET", "a%2Fb")).body.data as Record<string, unknown>;
    assertEquals([told["state"], told["receivedBytes"], told["id"]], ["receiving", dump.length, "a/b"]);
    const reader = await acme.mint("write");
    assertEquals((await ask("DELETE", "a%2Fb", reader.token)).body.code, "role_too_low");
    assertEquals((await ask("DELETE", "other")).body.code, "import_not_found");
    assertEquals((await ask("DELETE", "a%2Fb")).body.data, { id: "a/b", cancelled: true });
    assertEquals((await sending).body.code, "import_cancelled");

    const { transfers } = app.deps.tenants;
    assert(transfers);
    const { room } = transfers;
    const start = room.start;
    room.start = async (id, job) => {
      const run = await start.call(room, id, job);
      if (job.do === "build") await ask("DELETE", "a%2Fb");
      return run;
    };
    try {
      const built = await world.import("format=sql&mode=replace&id=a/b", dump);
      assertEquals([built.status, built.body.code], [409, "import_cancelled"], built.text);
    } finally {
      room.start = start;
    }
    const failed = (await ask("GET", "a%2Fb")).body.data as Record<string, unknown>;
    assertEquals([failed["state"], failed["code"]], ["failed", "import_cancelled"]);
    assertEquals(rowsOf(await acme.query("SELECT * FROM mine")), []);
    const kept = await app.request("GET", `${acme.database.path}/snapshots`, { token: acme.token });
    assertEquals(kept.body.data, []);

    assertEquals((await world.import("format=sql&mode=replace&id=a/b", dump)).status, 200);
    const done = (await ask("GET", "a%2Fb")).body.data as Record<string, unknown>;
    assertEquals([done["state"], done["tables"], done["rows"], done["code"]], ["done", 1, 1, null]);
    assertEquals((await ask("DELETE", "a%2Fb")).body.data, { id: "a/b", cancelled: false });
    const again = await world.import("format=sql&mode=replace&id=a/b", dump);
    assertEquals([again.status, again.body.issues?.[0]?.path], [400, "id"]);
  },

  "is told under the code of its answer where it fails as nobody expected": async (
    { acme, app, ...world },
  ) => {
    const { transfers } = app.deps.tenants;
    assert(transfers);
    const { adopt } = transfers;
    transfers.adopt = () => Promise.reject(new TypeError("unexpected"));
    try {
      const answer = await world.import("format=sql&mode=replace&id=fails", "CREATE TABLE t (v);\n");
      assertEquals([answer.status, answer.body.code], [500, "internal"]);
    } finally {
      transfers.adopt = adopt;
    }
    const path = `${acme.database.path}/imports/fails`;
    const { body } = await app.request("GET", path, { token: acme.token });
    assertEquals(Reflect.get(Object(body.data), "code"), "internal");
  },

  "with create keeps a table that was made while the file came in": async (world) => {
    const { acme } = world;
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await acme.setup("CREATE TABLE mine (v)");
        controller.enqueue(new TextEncoder().encode("CREATE TABLE t (v);"));
        controller.close();
      },
    }, { highWaterMark: 0 });
    const answer = await world.import("format=sql&mode=create", body);
    assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, "mode"], answer.text);
    assertEquals(rowsOf(await acme.query("SELECT v FROM mine")), []);
    const kept = await world.app.request("GET", `${acme.database.path}/snapshots`, { token: acme.token });
    assertEquals(kept.body.data, []);
  },

  "that appends tells which rows are in when a later one cannot be taken": async (world) => {
    const { acme } = world;
    await acme.setup("CREATE TABLE t (v INTEGER)");
    const csv = `v\n${"1\n".repeat(5001)}wrong\n`;
    const answer = await world.import("format=csv&mode=append&table=t", csv);
    assertEquals([answer.status, answer.body.code, Reflect.get(answer.body, "rows")], [
      400,
      "import_refused",
      5000,
    ]);
    assert(/first 5000 rows/.test(answer.text) && !/nothing has changed/.test(answer.text), answer.text);
    assertEquals(rowsOf(await acme.query("SELECT count(*) FROM t")), [[5000]]);
  },

  "that appends tells the first row that cannot be written, also where the file cannot be read a little later":
    async (
      world,
    ) => {
      const { acme } = world;
      await acme.setup("CREATE TABLE t (v INTEGER CHECK (v < 3))");
      for (
        const [format, head, row] of [["csv", "v\n", String], [
          "ndjson",
          "",
          (v: unknown) => `{"v":${v}}`,
        ]] as const
      ) {
        const values = [...Array(5000).fill(1), 2, 7, ...Array(4999).fill(1), '"'];
        const body = head + values.map((value) => `${row(value)}\n`).join("");
        const answer = await world.import(`format=${format}&mode=append&table=t`, body);
        const line = format === "csv" ? "line 5003" : "line 5002";
        assertEquals(
          [answer.status, answer.body.code, answer.body.issues?.[0]?.path, Reflect.get(answer.body, "rows")],
          [400, "sql_error", line, 5000],
          answer.text,
        );
        assertEquals(rowsOf(await acme.query("SELECT count(*), max(v) FROM t")), [[5000, 1]]);
        await acme.query("DELETE FROM t");
      }
    },
});
