// Reads of a group travel without what they repeat, and arrive whole.
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { DIGIT_ROWS, PLAIN_ROWS, TYPED_ROWS } from "../../lib/sql/words/row_form.ts";
import {
  packReads,
  type SentCall,
  type SentStatement,
  wholeCall,
  wholeReads,
} from "../../lib/tenant/local/child/wire_call.ts";

const params = fc.array(fc.oneof(fc.integer(), fc.string({ maxLength: 3 }), fc.constant(null)), {
  maxLength: 3,
});
const statement: fc.Arbitrary<SentStatement> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(fc.constantFrom("SELECT ?", "SELECT 1"), params, fc.constant("read" as const)),
  },
  fc.tuple(
    fc.constant("SELECT ?"),
    params,
    fc.constantFrom("read" as const, "write" as const),
    fc.constant({}),
  ),
);
const lookUp = (id: number): SentCall => ({
  statements: [["SELECT v FROM t WHERE id = ?", [id], "read"]],
  level: "read",
  atomic: true,
  schemaVersion: 3,
  maxRows: 10,
  maxBytes: 1000,
  rowForm: TYPED_ROWS,
  foreignKeysOff: false,
});
/** What some calls have otherwise. */
const other: fc.Arbitrary<Partial<SentCall>> = fc.oneof(
  fc.record({ statements: fc.oneof(fc.tuple(statement), fc.tuple(statement, fc.oneof(statement, params))) }),
  fc.record({ atomic: fc.boolean() }),
  fc.record({ schemaVersion: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ maxRows: fc.constantFrom(10, 20) }),
  fc.record({ rowForm: fc.constantFrom(PLAIN_ROWS, DIGIT_ROWS, TYPED_ROWS) }),
  fc.record({ failsWith: fc.constantFrom("timeout", "too_big") }),
);
const call = fc.tuple(fc.integer(), fc.option(other)).map(([id, other]) => ({ ...lookUp(id), ...other }));

Deno.test("whatever reads are in a group, they arrive as they were", () => {
  let shortened = 0;
  fc.assert(
    fc.property(fc.array(call, { maxLength: 6 }), (calls) => {
      const sent = packReads(calls);
      shortened += sent.filter((one) => !("statements" in one)).length;
      assertEquals(wholeReads(JSON.parse(JSON.stringify(sent))), calls.map(wholeCall));
    }),
    { numRuns: 2000 },
  );
  assert(shortened > 500, String(shortened));
});

Deno.test("of the same look-up with many values only the values travel", () => {
  assertEquals(packReads([lookUp(1), lookUp(2), lookUp(1)]), [lookUp(1), [2], [1]]);
});
