// Exports: whole, exact, of one moment, for whoever may read, and at no more cost than what is taken.
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { testSteps } from "../testing/cases.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { contentless, kinds } from "./kinds.ts";
import { contentOf, contentOfSql, transferWorld } from "./transfer_world.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

testSteps("export", transferWorld, {
  "as sqlite and as sql holds every kind of object and every value, and the same bytes each time": async (
    world,
  ) => {
    await world.acme.setup(...kinds);
    const file = await world.exported("format=sqlite");
    const sql = await world.exported("format=sql");
    assertEquals(contentOfSql(text(sql)), await contentOf(file));
    assertEquals(await world.exported("format=sqlite"), file);
    assertEquals(await world.exported("format=sql"), sql);
    assertEquals(text(sql).trimEnd().split("\n").at(-1), "-- end of export: 16 tables, 37 rows");
    const content = await contentOf(file);
    for (
      const table of [
        ...isEmbedded() ? ["plain", "boxes"] : [],
        "loose",
        "composite",
        "strict_any",
        "made",
        "words",
        "docs",
      ]
    ) {
      const columns = rowsOf(
        await world.acme.query(`SELECT name FROM pragma_table_xinfo('${table}') WHERE hidden <> 1`),
      );
      const values = columns.map(([name]) => `typeof("${name}") || ':' || hex(CAST("${name}" AS BLOB))`);
      const answer = await world.acme.query(`SELECT ${values.join(", ")} FROM ${table}`);
      assertEquals(content[table], rowsOf(answer), table);
    }
    assertEquals(content["version"], [["42"]]);
    assertEquals(content["sequence"], [["counted", "9223372036854775807"]]);
    assertEquals(content["rowids"], [["-9223372036854775808"], ["7"], ["10"]]);
    assertEquals(content["docs_index gamma"], [["5"]]);
  },

  "as sql keeps the ends of lines in a text, where its reader takes CR LF for LF as the program sqlite3 does":
    async (
      { acme, exported },
    ) => {
      const lines = "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT) STRICT";
      const without = "CREATE TABLE w (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID";
      const values = ["a\r\nb", "\r\n", "a\nb\r", "\r\r\n", "é\r\n表'"];
      await acme.setup(lines, without);
      for (const value of values) {
        await acme.query("INSERT INTO t (v) VALUES (?)", [value]);
        await acme.query("INSERT INTO w VALUES (?1, ?1)", [value]);
      }
      const sql = text(await exported("format=sql")).replaceAll("\r\n", "\n");
      assertEquals(contentOfSql(sql), await contentOf(await exported("format=sqlite")));
    },

  "of a full-text table without rows is searched as before as sqlite, and refused by name as sql": async (
    world,
  ) => {
    await world.acme.setup(...contentless);
    const content = await contentOf(await world.exported("format=sqlite"));
    assertEquals(content["unseen found"], [["4"]]);
    const answer = await world.export("format=sql");
    assertEquals(answer.status, 400);
    const { code, issues } = await answer.json();
    assertEquals([code, issues], ["export_refused", [{
      path: "table",
      message:
        "the table unseen keeps no rows that statements could write; format=sqlite has all tables, or drop this one and make it of its texts again",
    }]]);
  },

  "as csv and ndjson tells NULL from an empty text, and text from blobs": async ({ acme, exported }) => {
    await acme.setup(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, v)",
      "INSERT INTO t VALUES (1, 'a,\"b\"', 1), (2, '', x'00ff'), (3, NULL, 1.0), (4, '=1+1', 9007199254740993)",
      "INSERT INTO t VALUES (5, 'a' || char(0) || 'b', -1.5)",
    );
    assertEquals(
      text(await exported("format=csv&table=t")),
      'id,name,v\r\n1,"a,""b""",1\r\n2,"",AP8=\r\n3,,1.0\r\n4,=1+1,9007199254740993\r\n5,"a\0b",-1.5\r\n',
    );
    assertEquals(
      text(await exported("format=csv&table=T&safe=1")).split("\r\n")[4],
      "4,'=1+1,9007199254740993",
    );
    assertEquals(
      text(await exported("format=ndjson&table=t")).trimEnd().split("\n").map((line) => JSON.parse(line)),
      [
        { id: 1, name: 'a,"b"', v: 1 },
        { id: 2, name: "", v: { $blob: "AP8=" } },
        { id: 3, name: null, v: 1 },
        { id: 4, name: "=1+1", v: "9007199254740993" },
        { id: 5, name: "a\0b", v: -1.5 },
      ],
    );
  },

  "as csv with safe=1 has nothing that a spreadsheet runs, and numbers as they are": async (
    { acme, exported },
  ) => {
    const texts = ["=1+1", "+cmd|x", "-2+3", "@SUM(A1)", "\t=1", " =1", "\uff1d1"];
    const plain = ["-12.5", "+4", "a=b"];
    const values = [...texts, ...plain].map((one) => `('${one}')`).join(", ");
    await acme.setup('CREATE TABLE f ("=head" TEXT)', `INSERT INTO f VALUES ${values}`);
    assertEquals(text(await exported("format=csv&table=f&safe=1")).split("\r\n"), [
      ...["=head", ...texts].map((one) => `'${one}`),
      ...plain,
      "",
    ]);
  },

  "as sql has every row, whatever the key is called": async ({ acme, exported }) => {
    for (const key of ["line", "k", "count"]) {
      await acme.setup(
        `CREATE TABLE of_${key} (${key} INTEGER PRIMARY KEY, v)`,
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO of_${key} SELECT i, 'v' FROM n`,
      );
    }
    const lines = text(await exported("format=sql")).split("\n");
    for (const key of ["line", "k", "count"]) {
      const found = lines.filter((line) => line.startsWith(`INSERT INTO "of_${key}" `));
      assertEquals(
        found,
        Array.from({ length: 300 }, (_, at) => `INSERT INTO "of_${key}" VALUES(${at + 1},'v');`),
      );
    }
  },

  "as ndjson tells a REAL beyond 2^53 from an INTEGER, so that it comes in again as one": async (
    { acme, exported },
  ) => {
    await acme.setup("CREATE TABLE t (v)", "INSERT INTO t VALUES (1.2345678901234568e18), (1e19)");
    const lines = text(await exported("format=ndjson&table=t"));
    assertEquals(lines, '{"v":1.2345678901234568e+18}\n{"v":1e+19}\n');
  },

  "has nothing that was deleted, and nothing of the service's own": async ({ acme, exported }) => {
    await acme.setup(
      "CREATE TABLE t (v)",
      "INSERT INTO t VALUES ('kept'), ('SECRET' || hex(randomblob(2000)))",
    );
    await acme.query("DELETE FROM t WHERE v LIKE 'SECRET%'");
    const file = await exported("format=sqlite");
    const sql = await exported("format=sql");
    for (const bytes of [file, sql]) {
      const found = new TextDecoder("latin1").decode(bytes);
      assert(found.includes("kept"));
      for (const gone of ["SECRET", "_service_meta_", acme.id]) assert(!found.includes(gone), gone);
    }
  },

  "of one table has its indexes and triggers, and nothing of others": async ({ acme, exported }) => {
    await acme.setup(
      "CREATE TABLE a (v)",
      "CREATE TABLE b (v)",
      "CREATE INDEX a_v ON a (v)",
      "CREATE TRIGGER a_t AFTER INSERT ON a BEGIN DELETE FROM b; END",
      "INSERT INTO a VALUES (1)",
    );
    const { objects } = await contentOf(await exported("format=sqlite&table=A"));
    assertEquals((objects as string[][]).map(([, name]) => name), ["a_v", "a", "a_t"]);
  },

  "is read again under its id, also after writes, and a SQLite file from any byte on": async (world) => {
    const { acme, exported } = world;
    await acme.setup("CREATE TABLE t (v)", "INSERT INTO t VALUES (1)");
    const first = await world.export("format=sqlite");
    const id = first.headers.get("x-export-id") ?? "";
    const whole = await first.bytes();
    assertEquals(first.headers.get("etag"), `"${id}"`);
    assertEquals(first.headers.get("content-length"), String(whole.length));
    await acme.setup("INSERT INTO t VALUES (2)");
    assertEquals(await exported(`format=sqlite&id=${id}`), whole);
    const part = await world.export(`format=sqlite&id=${id}`, { headers: { range: "bytes=100-199" } });
    assertEquals(part.status, 206);
    assertEquals(part.headers.get("content-range"), `bytes 100-199/${whole.length}`);
    assertEquals(await part.bytes(), whole.slice(100, 200));
    const rest = await world.export(`format=sqlite&id=${id}`, {
      headers: { range: "bytes=100-", "if-range": `"${id}"` },
    });
    assertEquals([rest.status, await rest.bytes()], [206, whole.slice(100)]);
    const other = await world.export(`format=sqlite&id=${id}`, {
      headers: { range: "bytes=100-", "if-range": '"another"' },
    });
    assertEquals([other.status, (await other.bytes()).length], [200, whole.length]);
    const beyond = await world.export(`format=sqlite&id=${id}`, { headers: { range: "bytes=99999999-" } });
    assertEquals([beyond.status, beyond.headers.get("content-range")], [416, `bytes */${whole.length}`]);
    await beyond.body?.cancel();
    assertNotEquals(await exported("format=sqlite"), whole);
  },

  "tells how far it is, to readers of the database only, until it is cancelled": async (world) => {
    const { acme, app } = world;
    await acme.setup("CREATE TABLE t (v)", "INSERT INTO t VALUES (1), (2)");
    const answer = await world.export("format=csv&table=t");
    const id = answer.headers.get("x-export-id") ?? "";
    await answer.bytes();
    const path = `${acme.database.path}/exports/${id}`;
    const reader = await acme.mint("read");
    const told = await app.request("GET", path, { token: reader.token });
    assertEquals(told.status, 200, told.text);
    const { state, rows, sentBytes } = told.body.data as Record<string, unknown>;
    assertEquals([state, rows, sentBytes], ["ready", 2, 9]);
    const second = await acme.createDatabase("second");
    assertEquals(
      (await app.request("GET", `${second.path}/exports/${id}`, { token: acme.token })).status,
      404,
    );
    const others = await app.request("DELETE", path, { token: reader.token });
    assertEquals([others.status, others.body.code], [403, "role_too_low"]);
    assertEquals((await app.request("DELETE", path, { token: acme.token })).status, 200);
    assertEquals((await app.request("GET", path, { token: acme.token })).body.code, "export_not_found");
    const again = await world.export(`format=csv&table=t&id=${id}`);
    assertEquals(again.status, 404);
    await again.body?.cancel();
    for (const { token } of [reader, acme]) {
      const own = await world.export("format=csv&table=t", { token: reader.token });
      await own.bytes();
      const kept = `${acme.database.path}/exports/${own.headers.get("x-export-id")}`;
      assertEquals((await app.request("DELETE", kept, { token })).status, 200);
    }
  },

  "of a branch is the branch's, and a token without the database gets nothing": async (world) => {
    const { acme, app } = world;
    await acme.setup("CREATE TABLE t (v)", "INSERT INTO t VALUES ('trunk')");
    const claimed = await app.request("POST", `${acme.database.path}/claim_branch`, {
      token: acme.token,
      body: { purpose: "try", ref: "try" },
    });
    assertEquals(claimed.status, 201, claimed.text);
    const path = `${acme.database.path}@try`;
    await app.request("POST", `${path}/query`, {
      token: acme.token,
      body: { sql: "UPDATE t SET v = 'branch'" },
    });
    assertEquals(text(await world.exported("format=csv&table=t", { path })), "v\r\nbranch\r\n");
    assertEquals(text(await world.exported("format=csv&table=t")), "v\r\ntrunk\r\n");
    const second = await acme.createDatabase("second");
    const scoped = await acme.mint("read", {
      scopes: [{ databaseId: second.id, branchRef: "main", role: "read" }],
    });
    const refused = await world.export("format=sqlite", { token: scoped.token });
    assertEquals(refused.status, 403);
    await refused.body?.cancel();
  },

  "leaves one row in the log and is paid by the rows read": async ({ acme, app, exported }) => {
    await acme.setup("CREATE TABLE t (v)", "INSERT INTO t VALUES (1), (2), (3)");
    const balance = async () => {
      const answer = await app.request("GET", `/api/namespaces/${acme.slug}/usage?by=day`, {
        token: acme.token,
      });
      const [{ rowsRead = 0, requests = 0 } = {}] = answer.body.data as Record<string, number>[];
      return { rowsRead, requests };
    };
    await app.deps.query.meter.tick();
    const before = await balance();
    await exported("format=ndjson&table=t");
    await app.deps.query.meter.tick();
    const after = await balance();
    assertEquals([after.requests - before.requests, after.rowsRead - before.rowsRead], [1, 3]);
    const rows = rowsOf(
      await acme.query(
        "SELECT operation, status, rows_read, sql FROM _service_meta_query_log WHERE operation = 'export'",
      ),
    );
    assertEquals(rows, [["export", "ok", 3, "-- export as ndjson of 't'"]]);
  },

  "that its client leaves ends at once and may be read again; two at a time are enough for one namespace":
    async (world) => {
      const { acme, exported } = world;
      await acme.setup(
        "CREATE TABLE t (v)",
        "INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) " +
          "SELECT hex(randomblob(500)) FROM n",
      );
      const open = [await world.export("format=csv&table=t"), await world.export("format=sql")];
      const third = await world.export("format=csv&table=t");
      assertEquals([third.status, (await third.json()).code], [429, "too_many_transfers"]);
      const ids = open.map(({ headers }) => headers.get("x-export-id") ?? "");
      for (const { body } of open) {
        const reader = body?.getReader();
        await reader?.read();
        await reader?.cancel();
      }
      assertEquals((await exported(`format=csv&table=t&id=${ids[0]}`)).length, 4000 * 1002 + 3);
    },

  "refuses what it does not know": async (world) => {
    const { acme, app } = world;
    for (
      const [query, issue] of [
        ["format=xlsx", "format"],
        ["format=csv", "table"],
        ["format=sql&tables=t", "tables"],
        ["format=csv&table=nope", "table"],
      ]
    ) {
      const answer = await world.export(query ?? "");
      assertEquals(answer.status, 400, query);
      assertEquals((await answer.json()).issues[0].path, issue);
    }
    const head = await app.app.request(`${acme.database.path}/export?format=sql`, {
      method: "HEAD",
      headers: { authorization: `Bearer ${acme.token}` },
    });
    assertEquals(head.status, 405);
  },
});
