import { assertEquals } from "@std/assert";
import { freeRowidName } from "../../lib/sql/words/rowid_names.ts";

Deno.test("freeRowidName() finds a name that no column has, in whatever case it is written", () => {
  assertEquals(freeRowidName(["id"]), "rowid");
  assertEquals(freeRowidName(["id", "RowId"]), "_rowid_");
  assertEquals(freeRowidName(["ROWID", "_RowID_"]), "oid");
  assertEquals(freeRowidName(["rowid", "_rowid_", "OID"]), null);
});
