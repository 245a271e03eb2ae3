// How many of the held-out questions the embedded translator answers as a person would.
import { assert, assertEquals } from "@std/assert";
import { runHeldOut } from "./run_held_out.ts";

Deno.test("the embedded translator answers seven of ten held-out questions, and none of the others in a wrong way more often than one in ten", async () => {
  const { asked, right, wrong, refused } = await runHeldOut();
  assertEquals(asked, 100);
  const report = [...wrong, ...refused].join("\n");
  assert(right >= 70, `${right} of ${asked}\n${report}`);
  assert(wrong.length <= 10, report);
});
