// Which refusals share a row of the call log, and what the shared row says.
import { assertEquals } from "@std/assert";
import { FoldedRefusals } from "../../lib/services/published/folded_refusals.ts";
import type { EndpointCallRow } from "../../lib/tenant/endpoint_call_row.ts";

const MINUTE_MS = 60_000;

const rowOf = (more: Partial<EndpointCallRow> = {}): EndpointCallRow => ({
  ...{ id: "evt_1", ts: MINUTE_MS, endpoint: "item", status: "error", httpStatus: 429, code: "rate_limited" },
  ...{ rowsRead: 0, rowsWritten: 0, durationMs: 1, userId: "1", ipHash: "a", hits: null, count: 1 },
  ...more,
});

Deno.test("equal refusals of a minute share a row, which names a user and an address while all have the same", () => {
  const refusals = new FoldedRefusals();
  const fold = (more: Partial<EndpointCallRow> = {}, databaseId = "db_1") => {
    const { count, userId, ipHash } = refusals.fold(databaseId, rowOf(more));
    return [count, userId, ipHash];
  };
  assertEquals([fold(), fold({ ts: 2 * MINUTE_MS - 1 })], [[1, "1", "a"], [2, "1", "a"]]);
  const others: Partial<EndpointCallRow>[] = [{ endpoint: "other" }, { httpStatus: 503 }, {
    code: "login_locked",
  }];
  for (const other of others) assertEquals(fold(other), [1, "1", "a"]);
  assertEquals(fold({}, "db_2"), [1, "1", "a"]);
  assertEquals([fold({ userId: "2" }), fold({ ipHash: "b" })], [[3, null, "a"], [4, null, null]]);
  assertEquals(fold({ ts: 2 * MINUTE_MS }), [1, "1", "a"]);
  assertEquals(refusals.fold("db_1", rowOf({ ts: 2 * MINUTE_MS, durationMs: 4 })).durationMs, 2.5);
});

Deno.test("ten thousand rows count on; the longest unused one is begun anew", () => {
  const refusals = new FoldedRefusals();
  const fold = (databaseId: string) => refusals.fold(databaseId, rowOf()).count;
  fold("first");
  fold("second");
  for (let at = 0; at < 9_999; at++) fold(`db_${at}`);
  assertEquals([fold("second"), fold("first")], [2, 1]);
});
