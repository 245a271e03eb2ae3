// What hints say to callers of tools: nothing that only the HTTP API has.
import { assert, assertEquals } from "@std/assert";
import { dialectFunctions } from "../../lib/sql/hints/dialect_functions.ts";
import { dialectWords } from "../../lib/sql/hints/dialect_words.ts";
import { toolCall, toolWords } from "../../routes/mcp/tools/tool_words.ts";
import { testSteps } from "../testing/cases.ts";
import { type McpWorld, mcpWorld } from "./mcp_world.ts";

/** Methods, paths and operations of the API, and what only its answers have. */
const OF_THE_API =
  /\b(?:GET|POST|PUT|PATCH|X-[A-Z]\w+|batch|path|lastInsertRowid)\b|\/(?:api|v1)\b|\bCall (?:tables|describe)\b|\b(?:describe|tables) (?:lists|tells)\b/;

Deno.test("no hint for another dialect's words names what only the HTTP API has", () => {
  const hints = [...dialectWords, ...dialectFunctions].map(([, hint]) => hint);
  assertEquals(hints.map(toolWords).filter((hint) => OF_THE_API.test(hint)), []);
});

/** The tool, the statement, and what its hint has to name. */
const calls: readonly (readonly [tool: "query" | "write", sql: string, next: RegExp])[] = [
  ["query", "SELECT * FROM ordrs", /; describe_database lists what there is; did you mean orders\?$/],
  ["query", "SELECT nte FROM orders", /; describe_database lists the columns; did you mean note\?$/],
  ["query", "SELECT * FROM information_schema.tables", /^Call describe_database, or read sqlite_schema/],
  ["query", "SHOW TABLES", /^Call describe_database, or write SELECT/],
  ["query", "SELECT * FROM orders FOR UPDATE", /a call of write is one write$/],
  ["query", "USE shop", /^Name the database in the arguments of the call/],
  ["write", "BEGIN", /^Send the statements in one call of write: all of them are kept, or none$/],
  ["write", "ALTER TABLE orders ADD CONSTRAINT u UNIQUE (note)", /rename, in one call of write;/],
  ["write", "COMMENT ON TABLE orders IS 'x'", /^Put descriptions .* in the console or by the HTTP API$/],
  ["write", "CREATE DATABASE shop", /^Tell the user, who makes and deletes databases/],
  ["write", "GRANT SELECT ON orders TO ben", /^Tell the user, who can make a token with the role/],
  ["write", "INSERT INTO orders (id, note) VALUES (nextval('s'), 'x')", /write RETURNING id at its end$/],
];

testSteps("hints of tools", mcpWorld, {
  "an argument that is misspelt is told the one that is meant, that which names the database too": async (
    { connect },
  ) => {
    await using client = await connect();
    for (const [argument, meant] of [["databse", "database"], ["pramas", "params"]] as const) {
      const { value } = await client.call("query", { sql: "SELECT 1", database: "main", [argument]: "main" });
      assertEquals(value["code"], "validation_failed");
      assert(JSON.stringify(value["issues"]).includes(`did you mean ${meant}?`), JSON.stringify(value));
    }
  },

  "errorDetail names tools and arguments": async ({ connect }: McpWorld) => {
    await using client = await connect();
    for (const [tool, sql, next] of calls) {
      const args = tool === "query" ? { sql } : { statements: [{ sql }] };
      const { isError, text, value } = await client.call(tool, args);
      const { hint } = (value["errorDetail"] ?? {}) as { hint?: unknown };
      assert(isError && next.test(String(hint)), `${sql}: ${text}`);
      assert(!OF_THE_API.test(String(hint)), `${sql}: ${hint}`);
    }
  },

  "a search that finds nothing names no call of the API": async ({ connect }: McpWorld) => {
    await using client = await connect("read");
    const { hint } = await client.done("search_schema", { query: "zebra" });
    assert(/^Try a word of a name: there is orders\. /.test(String(hint)), String(hint));
    assert(!OF_THE_API.test(String(hint)), String(hint));
  },
});

Deno.test("a suggestion of doctor is the call of a tool where one does it, and else as it is", () => {
  const statements = [{ sql: `INSERT INTO t VALUES ('$1 ,"transaction":true}')` }];
  const cases: readonly (readonly [suggestion: string, here: string])[] = [
    [
      `POST /v1/db/shop/main/batch ${JSON.stringify({ statements, transaction: true })}`,
      `write ${JSON.stringify({ statements })}`,
    ],
    ['POST /v1/db/shop/main@b/restore {"snapshot":"s"}', 'restore_snapshot {"snapshot":"s"}'],
    ["GET /v1/db/shop/main/snapshots", "list_snapshots"],
    ['PUT /v1/db/shop/main/describe {"tables":{}}', 'PUT /v1/db/shop/main/describe {"tables":{}}'],
    ["CREATE INDEX i ON t (a)", "CREATE INDEX i ON t (a)"],
  ];
  for (const [suggestion, here] of cases) assertEquals(toolCall(suggestion), here);
});
