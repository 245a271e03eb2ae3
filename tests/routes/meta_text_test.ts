// The `meta` of an answer is put together by hand; nobody can tell.
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { QueryMeta } from "../../lib/query/query_call.ts";
import { metaText } from "../../routes/v1/meta_text.ts";

const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const meta: fc.Arbitrary<QueryMeta> = fc.record({
  rowsRead: fc.nat(),
  rowsWritten: fc.nat(),
  durationMs: fc.nat(),
  statementCount: fc.nat(),
  costUsd: finite,
  snapshot: fc.option(fc.string({ unit: "binary" })),
  queryLogId: fc.stringMatching(/^qry_[0-9A-HJKMNP-TV-Z]{26}$/),
  rowsReadBasis: fc.constantFrom("engine" as const, "plan" as const),
});

Deno.test("the meta of an answer is the JSON that the runtime would write", () => {
  fc.assert(
    fc.property(
      meta,
      fc.option(fc.array(fc.string({ unit: "binary" })), { nil: undefined }),
      (one, warnings) => {
        const whole = warnings === undefined ? one : { ...one, warnings };
        assertEquals(metaText(whole), JSON.stringify(whole));
      },
    ),
    { numRuns: 500 },
  );
});
