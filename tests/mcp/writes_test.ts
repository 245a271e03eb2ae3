// Tools that change rows: one transaction, bounded, once, shown before it runs.
import { assert, assertEquals } from "@std/assert";
import { testSteps } from "../testing/cases.ts";
import { eras } from "./mcp_client.ts";
import { assertUntouched, mcpWorld } from "./mcp_world.ts";

const DELETE_ALL = { sql: "DELETE FROM orders" };
const add = (note: string) => ({
  sql: "INSERT INTO orders (note) VALUES (?) RETURNING note",
  params: [note],
});

testSteps("writes", mcpWorld, {
  "write runs all or nothing, and answers what its statements return": async (world) => {
    for (const era of eras) {
      await using client = await world.connect("write", { era });
      const { results, snapshot } = await client.done("write", {
        statements: [add(`new ${era}`), {
          sql: "UPDATE orders SET total = 1 WHERE note = ?",
          params: [`new ${era}`],
        }],
      });
      assertEquals(results, [
        { columns: ["note"], rows: [[`new ${era}`]], rowsWritten: 1 },
        { rowsWritten: 1 },
      ]);
      assertEquals(snapshot, null);
      const failed = await client.call("write", {
        statements: [add("lost"), { sql: "INSERT INTO nowhere VALUES (1)" }],
      });
      assertEquals([failed.isError, failed.value["failedIndex"]], [true, 1]);
    }
    assertEquals(await world.rows("SELECT note FROM orders WHERE id > 3 ORDER BY id"), [["new current"], [
      "new former",
    ]]);
  },

  "more rows than maxAffected are undone, triggers included": async (world) => {
    await using client = await world.connect("write");
    const many = { statements: [DELETE_ALL], maxAffected: 2 };
    const { value } = await client.call("write", many);
    assertEquals([value["code"], value["affected"]], ["too_many_affected", 3]);
    assertEquals(value["error"], "It affects more rows than maxAffected lets it; nothing was kept");
    assert(String(value["hint"]).includes("maxAffected"));
    const grow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 101) " +
      "INSERT INTO orders (note) SELECT 'x' FROM n";
    assertEquals(await client.fails("write", { statements: [{ sql: grow }] }), "too_many_affected");
    await assertUntouched(world);
  },

  "dryRun and propose_write change nothing and show every row's before and after": async (world) => {
    await using client = await world.connect("write");
    const sql = "UPDATE orders SET note = 'changed' WHERE id = 1";
    const dry = await client.done("write", { statements: [{ sql }], dryRun: true });
    const [shown] = dry["results"] as {
      affectedRows: number;
      preview: { before: unknown[]; after: unknown[] };
    }[];
    assertEquals([shown?.affectedRows, shown?.preview.before, shown?.preview.after], [
      ...[1, [[1, "first", 10]], [[1, "changed", 10]]],
    ]);
    const proposed = await client.done("propose_write", { sql });
    assertEquals(proposed["affectedRows"], 1);
    await assertUntouched(world);
    const { executionToken } = proposed;
    const { results } = await client.done("apply_write", { executionToken });
    assertEquals(results, [{ rowsWritten: 1 }]);
    assertEquals(await world.rows("SELECT note FROM orders WHERE id = 1"), [["changed"]]);
    assertEquals(await client.fails("apply_write", { executionToken }), "execution_not_found");
    assertEquals(await client.fails("propose_write", { sql: "SELECT 1" }), "validation_failed");
  },

  "a proposal belongs to its token": async (world) => {
    await using one = await world.connect("write");
    await using other = await world.connect("write");
    const { executionToken } = await one.done("propose_write", DELETE_ALL);
    assertEquals(await other.fails("apply_write", { executionToken }), "not_yours");
    await assertUntouched(world);
  },

  "the rows of all statements together fit an answer, and each says whether it has more": async (world) => {
    await using client = await world.connect("write");
    const long = {
      sql: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) " +
        "INSERT INTO orders (note) SELECT printf('%.*c', 1000, 'x') FROM n RETURNING note",
    };
    const { text, value } = await client.call("write", { statements: [long, long] });
    const shown = (value["results"] as { rows: unknown[]; more?: boolean }[]).map(({ rows, more }) =>
      [rows.length, more === true] as const
    );
    assertEquals(shown.map(([, more]) => more), [false, true]);
    assert(text.length <= 52_000 && (shown[1]?.[0] ?? 0) > 0, `${text.length} ${shown}`);
  },

  "an idempotency key runs once, also among many at once": async (world) => {
    await using client = await world.connect("write");
    const call = () => client.done("write", { statements: [add("once")], idempotencyKey: "key-1" });
    const answers = await Promise.all(Array.from({ length: 8 }, call));
    assertEquals(answers.filter((one) => one["replayed"] !== true).length, 1);
    assertEquals((await call())["replayed"], true);
    assertEquals(await world.rows("SELECT count(*) FROM orders WHERE note = 'once'"), [[1]]);
    const other = { statements: [add("other")], idempotencyKey: "key-1" };
    assertEquals(await client.fails("write", other), "replay_mismatch");
    const narrower = { statements: [add("once")], maxAffected: 1, idempotencyKey: "key-1" };
    assertEquals(await client.fails("write", narrower), "replay_mismatch");
  },

  "a writer changes no definition; an admin does, and a snapshot brings the state before back": async (
    world,
  ) => {
    await using writer = await world.connect("write");
    const drop = { statements: [{ sql: "DROP TABLE orders" }] };
    assertEquals(await writer.fails("write", drop), "role_too_low");
    await using admin = await world.connect();
    const { snapshot } = await admin.done("write", drop);
    assert(typeof snapshot === "string");
    const { snapshots } = await admin.done("list_snapshots");
    assert((snapshots as { snapshot: string }[]).some((one) => one.snapshot === snapshot));
    const { undo } = await admin.done("restore_snapshot", { snapshot });
    assert(typeof undo === "string");
    await assertUntouched(world);
  },

  "statements that no role may run stay refused, and so do the service's own tables": async (world) => {
    await using client = await world.connect();
    for (
      const sql of [
        ...["BEGIN", "COMMIT", "ATTACH 'x' AS y", "VACUUM", "DELETE FROM _service_meta_audit"],
        ...["PRAGMA journal_mode = OFF", "SELECT load_extension('x')"],
      ]
    ) {
      const { isError, text } = await client.call("write", { statements: [{ sql }] });
      assert(isError, `${sql}: ${text}`);
    }
    await assertUntouched(world);
  },
});
