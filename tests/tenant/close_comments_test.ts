// Comments that a text leaves open are closed before a server sees them, whatever the text holds.
import process from "node:process";
import { assert, assertEquals } from "@std/assert";
import { closeComments } from "../../lib/tenant/remote/gate/sent_text.ts";
import { tenantCall } from "../contracts/tenant_store.ts";

function closed(sql: string): string | undefined {
  return closeComments(tenantCall(1, "read", [[sql]])).statements[0]?.sql;
}

Deno.test("only a comment behind the last token that does not end is closed", () => {
  for (
    const open of [
      "SELECT 1 /* to the end",
      "SELECT 1 /*/",
      "SELECT 1 /*\n-- one line\n'a quote",
      "SELECT '/*' /*",
      "SELECT 1 /* one */ -- /* two\n /* three */ /* four * /",
      "SELECT 1; /* one */ /* /* two",
    ]
  ) assertEquals(closed(open), `${open}*/`);
  for (
    const whole of [
      "SELECT 1 /* one */",
      "SELECT 1 /**/",
      "SELECT 1 -- /* one line",
      "SELECT 1 /* one */ -- two /*\n /***/ ",
      "SELECT '/* a text",
      'SELECT 1 AS "/*"',
      "SELECT /* one */ 1",
    ]
  ) assertEquals(closed(whole), whole);
});

Deno.test("closing comments takes time that grows with the text, not with its square", () => {
  const million = (piece: string) => `SELECT 1 ${piece.repeat(Math.floor(1_000_000 / piece.length))}`;
  const before = process.cpuUsage();
  assertEquals(closed(million("/*a")), `${million("/*a")}*/`);
  for (const piece of ["/**/", "-- /*\n", "*/ /", "/* */ ", "' /*", "/ *"]) closed(`${million(piece)}/*`);
  // Seven texts of a million characters: well below a second of the processor's time, or minutes.
  const { user, system } = process.cpuUsage(before);
  assert((user + system) / 1e6 < 10, `${user + system} µs`);
});
