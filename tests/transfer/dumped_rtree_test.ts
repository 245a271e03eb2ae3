// The storage of R*Trees in a dump: what is kept of it until the boxes come is bounded, however small its values are.
import { assertThrows } from "@std/assert";
import { DumpedRtree } from "../../lib/tenant/transfer/child/dumped_rtree.ts";

const SQL = "CREATE VIRTUAL TABLE boxes USING rtree(id, low, high, +more)";

Deno.test("rows of an R*Tree that fill the child's memory are refused by name, and so are nodes", () => {
  for (const others of [[null], []]) {
    const tree = new DumpedRtree("boxes", SQL, "rtree");
    assertThrows(() => {
      for (let row = 0n; row < 1_000_000n; row++) tree.take("rowid", [[row, row, ...others]], "line 1");
    }, /boxes has too much beside its boxes; send the SQLite file/);
  }
});
