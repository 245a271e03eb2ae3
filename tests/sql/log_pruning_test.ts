// What is deleted from a log that is too large: the oldest rows, as few as do.
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { type LogPruning, pruneStatements } from "../../lib/sql/service/log_pruning.ts";
import { serviceTableStatements } from "../../lib/sql/words/service_tables.ts";

const ROWS = 400;
/** Rows that go at once, at most. */
const MANY = 20_000;
const idOf = (at: number) => `qry_${String(at).padStart(6, "0")}`;
const sqlOf = (at: number) => "x".repeat((at * 37) % 90);
const bytesOf = (at: number) => 200 + sqlOf(at).length;

function filledLog(rows = ROWS): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  for (const sql of serviceTableStatements) database.exec(sql);
  const insert = database.prepare(
    "INSERT INTO _service_meta_query_log VALUES (?, 0, 'ns', 'db', 'tok', NULL, 'read', 'ok', NULL, 0, 0, 0, 1, ?)",
  );
  for (let at = 0; at < rows; at++) insert.run(idOf(at), sqlOf(at));
  return database;
}

function pruned(maxBytes: number): string[] {
  using database = filledLog();
  const statements = pruneStatements({ beforeId: null, cuts: [null, null], maxBytes, nowMs: null });
  for (const [sql, params] of statements) database.prepare(sql).run(...params);
  return database.prepare("SELECT id FROM _service_meta_query_log ORDER BY id").all().map(({ id }) =>
    String(id)
  );
}

Deno.test("a log beyond its bytes loses its oldest rows, and none more than it has to", () => {
  const numbers = Array.from({ length: ROWS }, (_, at) => at);
  const whole = numbers.reduce((sum, at) => sum + bytesOf(at), 0);
  for (const maxBytes of [0, 1, 200, 5000, whole - 300, whole - 200, whole - 1, whole, whole + 1]) {
    const kept = pruned(maxBytes);
    const first = ROWS - kept.length;
    assertEquals(kept, numbers.slice(first).map(idOf), `${maxBytes} bytes`);
    const bytes = numbers.slice(first).reduce((sum, at) => sum + bytesOf(at), 0);
    assert(bytes <= maxBytes, `${bytes} bytes of ${maxBytes} are left`);
    if (first > 0) assert(bytes + bytesOf(first - 1) > maxBytes, `there was room for row ${first - 1}`);
  }
});

Deno.test("an empty log has nothing to lose", () => {
  using database = new DatabaseSync(":memory:");
  for (const sql of serviceTableStatements) database.exec(sql);
  const statements = pruneStatements({ beforeId: null, cuts: [null, null], maxBytes: 0, nowMs: null });
  for (const [sql, params] of statements) assertEquals(database.prepare(sql).run(...params).changes, 0);
});

Deno.test("what is cut goes up to its id, and not too many rows at once, whether the engine can be asked before or not", () => {
  for (const asks of [false, true]) {
    using database = filledLog(MANY + 3);
    const value = (sql: string, params: readonly (string | number)[]) =>
      database.prepare(sql).get(...params)?.["id"];
    const firstLeft = (cut: number) => {
      const pruning: LogPruning = { beforeId: null, cuts: [idOf(cut), null], maxBytes: null, nowMs: null };
      const statements = pruneStatements(pruning, asks ? value : null);
      for (const [sql, params] of statements) database.prepare(sql).run(...params);
      return value("SELECT min(id) AS id FROM _service_meta_query_log", []);
    };
    assertEquals(firstLeft(1), idOf(1));
    assertEquals(firstLeft(0), idOf(1));
    assertEquals(firstLeft(MANY + 2), idOf(MANY + 1));
    assertEquals(firstLeft(MANY + 2), idOf(MANY + 2));
  }
});
