// Which failures leave a token that a call has spent as good as before.
import { assertEquals } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { neverRan } from "../../lib/query/never_ran.ts";

Deno.test("neverRan() is false where a batch that is not atomic has kept some of its statements", () => {
  const full = (data?: unknown) =>
    new AppError("storage_full", data === undefined ? {} : { extra: { data } });
  assertEquals([full(), full([]), full(null)].map(neverRan), [true, true, true]);
  const result = { columns: [], rows: [], rowsRead: 0, rowsWritten: 1 };
  assertEquals([full([result]), full(result)].map(neverRan), [false, false]);
  assertEquals([new AppError("outcome_unknown"), new Error("storage_full")].map(neverRan), [false, false]);
});
