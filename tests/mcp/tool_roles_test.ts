// Which tools a connection has: the table of roles, each tool with each role, and what narrows a connection.
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Role } from "../../lib/core/role.ts";
import { testSteps } from "../testing/cases.ts";
import { connectMcp, eras } from "./mcp_client.ts";
import { assertUntouched, type McpWorld, mcpWorld } from "./mcp_world.ts";

/** Tool → least role, and arguments that it takes. */
const tools: Readonly<Record<string, readonly [Role, object]>> = {
  list_databases: ["read", {}],
  describe_database: ["read", {}],
  search_schema: ["read", { query: "orders" }],
  query: ["read", { sql: "SELECT 1" }],
  doctor: ["read", {}],
  query_log: ["read", {}],
  list_branches: ["read", {}],
  diff_branch: ["read", { branchRef: "none" }],
  list_snapshots: ["read", {}],
  propose_write: ["write", { sql: "DELETE FROM orders" }],
  apply_write: ["write", { executionToken: "pmut_none" }],
  write: ["write", { statements: [{ sql: "DELETE FROM orders" }] }],
  get_approval: ["write", { approvalId: "apv_none" }],
  redeem_approval: ["write", { approvalId: "apv_none" }],
  create_branch: ["admin", { purpose: "a try" }],
  merge_branch: ["admin", { branchRef: "none", mode: "data", onConflict: "abort" }],
  delete_branch: ["admin", { branchRef: "none" }],
  restore_snapshot: ["admin", { snapshot: "none" }],
  hand_off: ["read", { role: "read", ttlSec: 60 }],
};

const order: readonly Role[] = ["read", "write", "admin"];
const namesFor = (role: Role) =>
  Object.entries(tools).filter(([, [least]]) => order.indexOf(least) <= order.indexOf(role)).map(([name]) =>
    name
  );

testSteps("tools and roles", mcpWorld, {
  "each role has the tools of the table, in the same order each time, and runs no other": async (world) => {
    for (const role of order) {
      for (const era of eras) {
        await using client = await world.connect(role, { era });
        const names = await client.toolNames();
        assertEquals(names, namesFor(role), `${role} ${era}`);
        assertEquals(await client.toolNames(), names);
        if (role === "admin") continue;
        for (const [name, [, args]] of Object.entries(tools)) {
          if (names.includes(name)) continue;
          await assertRejects(() => client.call(name, args), /tools\/list/);
        }
      }
    }
    await assertUntouched(world);
  },

  "a reader runs every tool that it has, and none of them changes anything": async (world) => {
    await using client = await world.connect("read");
    for (const name of namesFor("read")) {
      const { text } = await client.call(name, tools[name]?.[1]);
      assert(!/role_too_low|validation_failed|internal/.test(text), `${name}: ${text}`);
    }
    await assertUntouched(world);
  },

  "the list fits: 24 kB for an admin, 10 kB for a reader, and every tool says all of its hints": async (
    world,
  ) => {
    for (const [role, most] of [["admin", 24_000], ["read", 10_000]] as const) {
      await using client = await world.connect(role);
      const { tools: listed } = await client.client.listTools();
      const bytes = new TextEncoder().encode(JSON.stringify(listed)).length;
      assert(bytes <= most, `${role}: ${bytes}`);
      for (const { name, title, description = "", inputSchema, annotations = {} } of listed) {
        assert(/^[a-z0-9_]{1,32}$/.test(name), name);
        assert(title !== undefined && description.length <= 1000, name);
        const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
        for (const hint of [readOnlyHint, destructiveHint, idempotentHint]) {
          assertEquals(typeof hint, "boolean", name);
        }
        assertEquals(openWorldHint, false, name);
        assertEquals(inputSchema["additionalProperties"], false, name);
      }
      const instructions = client.client.getInstructions() ?? "";
      assert(instructions.length > 500 && instructions.length <= 2000, String(instructions.length));
    }
  },

  "read_only keeps an admin from writing by any tool": async (world) => {
    for (const era of eras) {
      await using client = await world.connect(undefined, { era, query: "?read_only=1" });
      assertEquals(await client.toolNames(), namesFor("read"));
      for (const [name, [least, args]] of Object.entries(tools)) {
        if (least === "read") continue;
        const refused = new RegExp(`Connect with the role ${least} .*a connection with read `);
        await assertRejects(() => client.call(name, args), refused);
      }
      for (
        const sql of [
          "DELETE FROM orders",
          "WITH gone AS (SELECT 1) DELETE FROM orders",
          "SELECT 1; DELETE FROM orders",
          "SELECT 1; COMMIT; DROP TABLE orders",
          "/* SELECT */ DROP TABLE orders",
          "EXPLAIN SELECT 1; DELETE FROM orders",
          "PRAGMA writable_schema = 1",
          "INSERT INTO orders (note) VALUES ('x') RETURNING id",
          "VACUUM INTO '/tmp/copy'",
        ]
      ) {
        const code = await client.fails("query", { sql });
        assert(
          ["role_too_low", "multiple_statements", "statement_refused"].includes(String(code)),
          `${sql}: ${code}`,
        );
      }
      assertEquals(await client.fails("hand_off", { role: "admin", ttlSec: 60 }), "role_too_low");
    }
    await assertUntouched(world);
  },

  "a database in the address takes the argument away, and leaves its branches in reach": async (world) => {
    await world.shop.createDatabase("stock");
    await using wide = await world.connect();
    const { tools: named } = await wide.client.listTools();
    const query = named.find(({ name }) => name === "query");
    assertEquals(query?.inputSchema.required, ["database", "sql"]);
    assertEquals(await wide.fails("query", { sql: "SELECT 1" }), "validation_failed");
    const { database } = await wide.done("create_branch", { database: "main", purpose: "a try" });
    await using client = await world.connect(undefined, { query: "?database=main" });
    const { tools: listed } = await client.client.listTools();
    for (const { name, inputSchema } of listed) {
      assert(!("database" in (inputSchema.properties ?? {})), name);
    }
    const ofQuery = listed.find(({ name }) => name === "query")?.inputSchema;
    assert("branch" in (ofQuery?.properties ?? {}));
    assertEquals((await client.done("query", { sql: "SELECT count(*) FROM orders" }))["rows"], [[3]]);
    const branch = String(database).split("@")[1];
    const there = await client.done("query", { branch, sql: "SELECT count(*) FROM orders" });
    assertEquals(there["rows"], [[3]]);
    for (const args of [{ database: "stock" }, { database: "main" }, { branch: "none" }, { branch: 1 }]) {
      const code = await client.fails("query", { ...args, sql: "SELECT 1" });
      assert(code === "validation_failed" || code === "branch_not_found", JSON.stringify(args));
    }
    assertEquals((await client.done("list_databases"))["databases"], [{ database: "main", role: "admin" }]);
    await using onBranch = await world.connect(undefined, { query: `?database=${database}` });
    assertEquals(await onBranch.fails("list_branches"), "trunk_required");
    await onBranch.done("write", { statements: [{ sql: "DELETE FROM orders WHERE id = 1" }] });
    await assertUntouchedOrders(world);
  },

  "scopes bound what is listed, what is reached and which tools there are": async (world) => {
    const { shop } = world;
    const stock = await shop.createDatabase("stock");
    const row = { databaseId: stock.id, branchRef: "main" };
    await using reader = await world.connect(await world.scoped("admin", { ...row, role: "read" }));
    assertEquals(await reader.toolNames(), namesFor("read"));
    assertEquals((await reader.done("list_databases"))["databases"], [
      { database: "stock", name: "stock", role: "read" },
    ]);
    assertEquals((await reader.done("list_databases", { prefix: "st" }))["databases"], [
      { database: "stock", name: "stock", role: "read" },
    ]);
    assertEquals((await reader.done("list_databases", { prefix: "main" }))["databases"], []);
    // The only one that it reaches need not be named.
    assertEquals((await reader.done("query", { sql: "SELECT 1" }))["rows"], [[1]]);
    assertEquals(await reader.fails("query", { database: "main", sql: "SELECT 1" }), "out_of_scope");
    assertEquals(await reader.fails("query", { database: "other", sql: "SELECT 1" }), "database_not_found");
    const mixed = [{ ...row, role: "read" as const }, {
      databaseId: shop.database.id,
      branchRef: "main",
      role: "write" as const,
    }];
    const own = await world.scoped("admin", ...mixed);
    await using writer = await world.connect(own);
    assertEquals(await writer.toolNames(), namesFor("write"));
    await using narrow = await world.connect(own, { query: "?database=stock" });
    assertEquals(await narrow.toolNames(), namesFor("read"));
    const statements = [{ sql: "CREATE TABLE t (a)" }];
    assertEquals(await writer.fails("write", { database: "stock", statements }), "role_too_low");
  },

  "a token that is pinned to a branch uses it without naming it": async (world) => {
    const { app, shop } = world;
    const claim = { token: shop.token, body: { purpose: "pinned", ref: "pr-1", role: "write" } };
    const { body } = await app.request("POST", `${shop.database.path}/claim_branch`, claim);
    const { token } = body.data as { token: string };
    await using client = await connectMcp(app.app, { token });
    assertEquals((await client.done("list_databases"))["databases"], [
      { database: "main@pr-1", name: "main", role: "write" },
    ]);
    const names = await client.toolNames();
    assertEquals(
      ["query", "write", "list_branches", "diff_branch", "create_branch"].map((one) => names.includes(one)),
      [
        ...[true, true],
        ...[false, false, false],
      ],
    );
    await client.done("write", { statements: [{ sql: "DELETE FROM orders WHERE id = 1" }] });
    assertEquals(await client.fails("query", { database: "main@main", sql: "SELECT 1" }), "out_of_scope");
    await assertUntouchedOrders(world);
  },
});

async function assertUntouchedOrders({ rows }: McpWorld): Promise<void> {
  assertEquals(await rows("SELECT count(*) FROM orders"), [[3]]);
}
