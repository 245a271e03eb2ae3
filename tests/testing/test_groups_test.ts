// The runner of the tests: nothing is left out, nothing is named that is gone.
import { assert, assertEquals } from "@std/assert";
import { filesWithRounds } from "./rounds.ts";
import { slowFiles, slowFolders } from "./slow_files.ts";
import { leftOut, suitesOnSqld } from "./suites_on_sqld.ts";
import { testFiles } from "./test_files.ts";
import { groupsOf } from "./test_groups.ts";
import { FILLING, ON_SQLD, type TestRuns, wideSweeps, withoutSweeps } from "./wide_sweeps.ts";

Deno.test("every file of tests is in one group, and every suite that runs on sqld in one more", async () => {
  const files = await testFiles();
  const suites = await suitesOnSqld();
  const groups = groupsOf({ files, onSqld: suites });
  const filesOf = (onSqld: boolean) =>
    groups.filter((group) => group.onSqld === onSqld).flatMap(({ paths }) => paths).sort();
  assertEquals(filesOf(false), files);
  assertEquals(filesOf(true), suites);
});

Deno.test("the run that a person waits for has everything but the sweeps, and all of the embedded store but what looks at every page or fills the machine", async () => {
  const all = { files: await testFiles(), onSqld: await suitesOnSqld() };
  const { leftOut: swept, ...most } = withoutSweeps(all);
  assertEquals(swept, Object.keys(wideSweeps).sort());
  const filesOf = ({ files, onSqld }: TestRuns) => [...files, ...onSqld.map((path) => path + ON_SQLD)];
  const kept = new Set(filesOf(most));
  for (const file of filesOf(all).filter((file) => !kept.has(file))) {
    assert(swept.some((name) => file.startsWith(name.replace(ON_SQLD, ""))), file);
    const reason = Object.entries(leftOut).find(([path]) => file.startsWith(path))?.[1] ?? "";
    const looks = file.startsWith("tests/browser/");
    const isRemote = /^tests\/tenant\/(?:turso|wasm_gate|gate_engines)_/.test(file);
    assert(
      looks || isRemote || FILLING.includes(file) || file.endsWith(ON_SQLD) ||
        reason.startsWith("starts an sqld"),
      `${file} needs no sqld`,
    );
  }
});

Deno.test("the tests that stand in for a sweep run without it, on sqld where it is about sqld", async () => {
  const all = { files: await testFiles(), onSqld: await suitesOnSqld() };
  const kept = withoutSweeps(all);
  const has = (paths: readonly string[], file: string) => paths.some((path) => path.endsWith(`/${file}`));
  const missing = Object.entries(wideSweeps).flatMap(([sweep, reason]) =>
    Array.from(reason.matchAll(/\w+_test\.ts/g), ([file]) => file).filter((file) =>
      // A file that has no second run starts an sqld itself.
      sweep.endsWith(ON_SQLD) && has(all.onSqld, file) ? !has(kept.onSqld, file) : !has(kept.files, file)
    ).map((file) => `${sweep}: ${file}`)
  );
  assertEquals(missing, []);
});

Deno.test("the tests that stand in for what is left out on sqld are there, and run on it", async () => {
  const [files, suites] = [await testFiles(), await suitesOnSqld()];
  const missing = Object.entries(leftOut).flatMap(([path, reason]) =>
    Array.from(reason.matchAll(/[\w/]+_test\.ts/g), ([named]) => named).filter((named) => {
      const asked = files.filter((file) => `/${file}`.endsWith(`/${named}`));
      const startsOne = (file: string) => leftOut[file]?.startsWith("starts an sqld") ?? false;
      return !asked.some((file) => suites.includes(file) || startsOne(file));
    }).map((named) => `${path}: ${named}`)
  );
  assertEquals(missing, []);
});

Deno.test("a file of tests in a browser is a group of its own", async () => {
  const inBrowser = (path: string) => path.startsWith("tests/browser/");
  const groups = groupsOf({ files: await testFiles(), onSqld: [] }).filter(({ paths }) =>
    paths.some(inBrowser)
  );
  assertEquals(groups.map(({ paths }) => paths.length), groups.map(() => 1));
  assertEquals(groups.length, (await testFiles("tests/browser")).length);
});

Deno.test("files that are slow, left out on sqld or run in rounds are there", async () => {
  const files = await testFiles();
  const folders = new Set(files.map((path) => path.slice(0, path.lastIndexOf("/"))));
  const missing = [...Object.keys(slowFiles), ...Object.keys(leftOut)]
    .filter((path) => !files.includes(path) && !folders.has(path));
  assertEquals(missing, []);
  const onSqld = new Set(
    (await suitesOnSqld()).map((path) => path.slice(0, path.lastIndexOf("/")) + ON_SQLD),
  );
  assertEquals(Object.keys(slowFolders).filter((name) => !folders.has(name) && !onSqld.has(name)), []);
  const inRounds = await filesWithRounds(files);
  for (const path of ["tests/faults/relay_test.ts", "tests/models/sql_test.ts"]) {
    assert(inRounds.includes(path), path);
  }
});
