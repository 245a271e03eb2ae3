// How many rows a transaction has changed by the time: rules that count rows see it as one call.
import { assertEquals } from "@std/assert";
import { ChangedRows } from "../../lib/query/transaction/changed_rows.ts";

Deno.test("what is rolled back to a savepoint is what it was there, whatever its name's case and however many have it", () => {
  const changed = new ChangedRows();
  changed.add(1);
  changed.savepoint("savepoint", "One");
  changed.add(10);
  changed.savepoint("savepoint", "two");
  changed.add(100);
  changed.savepoint("savepoint", "one");
  changed.add(1000);
  assertEquals(changed.rows, 1111);
  changed.savepoint("rollback to", "ONE");
  assertEquals(changed.rows, 111);
  // It goes on behind a rollback, until it is released with all inside of it.
  changed.add(1000);
  changed.savepoint("rollback to", "one");
  assertEquals(changed.rows, 111);
  changed.savepoint("release", "two");
  assertEquals(changed.rows, 111);
  changed.savepoint("rollback to", "one");
  assertEquals([changed.rows, changed.rest().savepoints], [1, [["one", 1]]]);
  const resumed = new ChangedRows(changed.rest());
  resumed.add(5);
  resumed.savepoint("rollback to", "one");
  assertEquals(resumed.rows, 1);
  resumed.savepoint("release", "one");
  assertEquals(resumed.rest(), { rows: 1, savepoints: [] });
});
