// A tenant's file that this process may read and not write.
import { assertEquals } from "@std/assert";
import { readOutcome } from "../../lib/tenant/local/frames/wire.ts";

Deno.test("a write to a file that may not be written is the store's failure, not the statement's", () => {
  const f = {
    kind: "readonly",
    message: "attempt to write a readonly database",
    table: null,
    columns: [],
  } as const;
  const { outcome } = readOutcome({ k: "failed", r: [], at: 0, f, ms: 0, w: [0, 0], unlogged: true }, {
    text: "",
  }, 0);
  assertEquals(outcome.ok === false && outcome.failure.kind, "full");
});
