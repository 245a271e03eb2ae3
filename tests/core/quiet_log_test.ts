// Warnings that come again and again.
import { assertEquals } from "@std/assert";
import { quietLog } from "../../lib/core/log.ts";
import { TestClock } from "../control/balance_world.ts";

Deno.test("quietLog() writes a warning of a kind once a minute, with how many it left out", () => {
  const lines: unknown[] = [];
  const clock = new TestClock();
  const log = quietLog((level, event, fields) => lines.push([level, event, fields ?? {}]), clock);
  for (let call = 0; call < 400; call++) {
    log("warn", "log_rows_not_written", { rows: call, code: "storage_full" });
  }
  log("warn", "log_rows_not_written", { rows: 1, code: "database_corrupt" });
  clock.pass(60_000);
  log("warn", "log_rows_not_written", { rows: 7, code: "storage_full" });
  assertEquals(lines, [
    ["warn", "log_rows_not_written", { rows: 0, code: "storage_full" }],
    ["warn", "log_rows_not_written", { rows: 1, code: "database_corrupt" }],
    ["warn", "log_rows_not_written", { rows: 7, code: "storage_full", again: 399 }],
  ]);
});

Deno.test("quietLog() leaves out no error", () => {
  const lines: unknown[] = [];
  const log = quietLog((_level, event) => lines.push(event), new TestClock());
  for (let call = 0; call < 3; call++) log("error", "internal");
  assertEquals(lines.length, 3);
});
