// The runner of the tests: nothing is left out, nothing is named that is gone.
import { assert, assertEquals } from "@std/assert";
import { filesWithRounds } from "./rounds.ts";
import { slowFiles } from "./slow_files.ts";
import { leftOut, suitesOnSqld } from "./suites_on_sqld.ts";
import { testFiles } from "./test_files.ts";
import { groupsOf } from "./test_groups.ts";

Deno.test("every file of tests is in one group, and every suite that runs on sqld in one more", async () => {
  const files = await testFiles();
  const suites = await suitesOnSqld();
  const groups = groupsOf(files, suites);
  const filesOf = (onSqld: boolean) =>
    groups.filter((group) => group.onSqld === onSqld).flatMap(({ paths }) => paths).sort();
  assertEquals(filesOf(false), files);
  assertEquals(filesOf(true), suites);
});

Deno.test("files that are slow, left out on sqld or run in rounds are there", async () => {
  const files = await testFiles();
  const folders = new Set(files.map((path) => path.slice(0, path.lastIndexOf("/"))));
  const missing = [...Object.keys(slowFiles), ...Object.keys(leftOut)]
    .filter((path) => !files.includes(path) && !folders.has(path));
  assertEquals(missing, []);
  const inRounds = await filesWithRounds(files);
  for (const path of ["tests/faults/relay_test.ts", "tests/models/sql_test.ts"]) {
    assert(inRounds.includes(path), path);
  }
});
