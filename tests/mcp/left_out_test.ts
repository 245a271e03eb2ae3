// Clients whose models have to send every argument: an empty value of one that may be left out leaves it out.
import { assert, assertEquals } from "@std/assert";
import { testSteps } from "../testing/cases.ts";
import { mcpWorld, queried } from "./mcp_world.ts";

const INSERT = "INSERT INTO orders (note) VALUES ('new')";
const SELECT = "SELECT count(*) FROM orders";

/** Calls of an admin with each argument that may be left out, in the order of the tools. */
const calls: readonly (readonly [tool: string, args: object])[] = [
  ["describe_database", { database: null, tables: null }],
  ["describe_database", { database: "", tables: [] }],
  ["search_schema", { database: "", query: "orders", limit: null }],
  ["query", { database: null, sql: SELECT, params: null, maxRows: null }],
  ["query", { database: "", sql: SELECT, params: [], maxRows: null }],
  ["doctor", { database: null }],
  ["query_log", { database: null, limit: null, status: null }],
  ["query_log", { database: "", limit: null, status: "" }],
  ["list_branches", { database: "" }],
  ["propose_write", { database: null, sql: INSERT, params: null, ttlSec: null }],
  ["write", {
    ...{ database: null, statements: [{ sql: INSERT, params: null }] },
    ...{ maxAffected: null, idempotencyKey: null, dryRun: null },
  }],
  ["write", { database: "", statements: [{ sql: INSERT, params: [] }], idempotencyKey: "" }],
  ["create_branch", { database: null, purpose: "try", ttlSec: null }],
];

testSteps("arguments that are left out", mcpWorld, {
  "null, an empty text and an empty list are the same as nothing": async ({ connect, rows }) => {
    await using client = await connect();
    for (const [tool, args] of calls) await client.done(tool, args);
    // Both writes ran, and neither was a repetition of the other.
    assertEquals(await rows(SELECT), [[5]]);
    const approval = { approvalId: "apv_none", waitSec: null };
    const { value } = await client.call("get_approval", approval);
    assertEquals([value["code"], value["error"]], [
      "approval_not_found",
      "No approval of this database has that id",
    ]);
    assert(
      !String(value["hint"]).includes("get_approval"),
      "it sends the agent to the tool that it has called",
    );
  },

  "a bound that is left out is the one that is told": async ({ connect, rows }) => {
    await using client = await connect();
    const sql =
      "INSERT INTO orders (note) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 101) SELECT i FROM n";
    const many = { statements: [{ sql }], maxAffected: null };
    assertEquals(await client.fails("write", many), "too_many_affected");
    assertEquals(await rows(SELECT), [[3]]);
  },

  "where the address names the database, an empty branch is the trunk": async ({ connect, rows }) => {
    await using client = await connect("write", { query: "?database=main" });
    for (const branch of [null, ""]) {
      await client.done("write", { branch, statements: [{ sql: INSERT }] });
    }
    assertEquals(await rows(SELECT), [[5]]);
  },

  "the argument that names the database is among those that are known": async ({ app, shop, connect }) => {
    const told = async (query: string, args: Readonly<Record<string, unknown>>) => {
      await using client = await connect("write", { query });
      return (await client.call("describe_database", args)).value["issues"];
    };
    const message = (known: string) => `Remove this field; it is not known here; known are ${known}`;
    assertEquals(await told("", { unheard: 1 }), [{ path: "unheard", message: message("database, tables") }]);
    assertEquals(await told("?database=main", { unheard: 1 }), [{
      path: "unheard",
      message: message("branch, tables"),
    }]);
    assertEquals(await told("", { databse: "main" }), [{
      path: "databse",
      message: "Remove this field; it is not known here; did you mean database?",
    }]);
    await app.request("POST", `/api/namespaces/${shop.slug}/databases`, {
      token: app.operatorKey,
      body: { slug: "second" },
    });
    assertEquals(await told("", { database: "main", unheard: 1 }), [{
      path: "unheard",
      message: message("database, tables"),
    }]);
  },

  "a database that has to be named is asked for": async ({ app, shop, connect, scoped }) => {
    const more = { token: app.operatorKey, body: { slug: "other" } };
    const made = await app.request("POST", `/api/namespaces/${shop.slug}/databases`, more);
    const other = (made.body.data as { id: string }).id;
    const scopes = [shop.database.id, other].map((databaseId) => ({
      ...{ databaseId, branchRef: "main", role: "read" as const },
    }));
    for (const token of [shop, await scoped("read", ...scopes)]) {
      await using client = await connect(token);
      for (const database of [null, ""]) {
        const { isError, text, value } = await client.call("query", { database, sql: SELECT });
        assert(isError, text);
        const path = "database";
        const message = "Name the database; list_databases lists those that you reach";
        assertEquals(value["issues"], [{ path, message }]);
      }
    }
  },

  "values of a statement stay what they are": async ({ connect, rows }) => {
    await using client = await connect();
    const sql = "INSERT INTO orders (note, total) VALUES (?, ?)";
    await client.done("write", { statements: [{ sql, params: ["", null] }] });
    assertEquals(await rows("SELECT note, total FROM orders WHERE id = 4"), [["", null]]);
    assertEquals(await queried(client, "SELECT ?, ?", { params: [null, ""] }), [[null, ""]]);
  },

  "what is needed, and an empty value of another type, are wrong arguments": async ({ connect, rows }) => {
    await using client = await connect();
    const wrong: readonly (readonly [tool: string, args: object, path: string])[] = [
      ["query", { sql: null }, "sql"],
      ["query", { sql: SELECT, params: "" }, "params"],
      ["query", { sql: SELECT, maxRows: [] }, "maxRows"],
      ["query", { sql: SELECT, database: [] }, "database"],
      ["query", { sql: SELECT, note: null }, "note"],
      ["search_schema", { query: "" }, "query"],
      ["write", { statements: [] }, "statements"],
      ["write", { statements: [{ sql: INSERT }], dryRun: "" }, "dryRun"],
      ["write", { statements: [{ sql: INSERT, note: null }] }, "statements[0].note"],
      ["diff_branch", { branchRef: "" }, "branchRef"],
      ["restore_snapshot", { snapshot: null }, "snapshot"],
    ];
    for (const [tool, args, path] of wrong) {
      const { isError, text, value } = await client.call(tool, args);
      assert(isError, `${tool}: ${text}`);
      assertEquals((value["issues"] as { path: string }[]).map((one) => one.path), [path], text);
    }
    assertEquals(await rows(SELECT), [[3]]);
  },
});
