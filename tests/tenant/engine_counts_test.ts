// What the log is told of work that a disk has refused.
import { assertEquals } from "@std/assert";
import type { EngineFailure } from "../../lib/engine/engine_failure.ts";
import { EngineCounts } from "../../lib/tenant/local/pool/engine_counts.ts";

/** What is told when a group of calls fails so, as a whole or one of them. */
function told(kind: EngineFailure["kind"], message: string): unknown[] {
  const lines: unknown[] = [];
  const counts = new EngineCounts((...line) => lines.push(line));
  const f = { kind, message };
  const failed = { k: "failed", f };
  for (const reply of [{ t: "failed", f }, { t: "outcomes", o: [{ k: "ok" }, failed] }]) {
    counts.answered({ work: { kind: "read" }, lanes: {}, answered: null } as never, { reply } as never);
  }
  return lines;
}

Deno.test("the log says what the disk has refused, without the path of a database", () => {
  const line = (reason: string) => ["warn", "storage_failed", { op: "read", reason }];
  assertEquals(told("full", "disk I/O error"), Array(2).fill(line("disk I/O error")));
  const opening = "unable to open database file";
  assertEquals(told("full", `${opening}: /data/tenants/ab/db_1.db`), Array(2).fill(line(opening)));
  assertEquals(told("busy", "database is locked"), []);
});
