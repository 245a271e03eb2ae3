// A small set answers as any other set does.
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { FewOf } from "../../lib/tenant/local/lanes/few_of.ts";

const step = fc.record({ do: fc.constantFrom("add", "delete", "clear"), item: fc.nat({ max: 5 }) });

Deno.test("a set of few has what was added and not deleted, in the order of its coming", () => {
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const few = new FewOf<number>();
      const set = new Set<number>();
      for (const { do: what, item } of steps) {
        if (what === "add") [few.add(item), set.add(item)];
        else if (what === "delete") assertEquals(few.delete(item), set.delete(item));
        else [few.clear(), set.clear()];
        assertEquals([few.size, ...few], [set.size, ...set]);
      }
    }),
  );
});
