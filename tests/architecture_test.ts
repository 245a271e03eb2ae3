// Holds the house's rules about the tree: what stands where, what imports what, what is touched in one place only.
import { assert, assertEquals } from "@std/assert";
import { fileImports, folderGraph, type ImportMap } from "./architecture/file_imports.ts";
import { exportsOf } from "./architecture/exports_of.ts";
import { findCycle } from "./architecture/find_cycle.ts";
import { climbs, topLevel } from "./architecture/layers.ts";
import { repository, sourceFiles } from "./architecture/source_files.ts";
import house from "./lint/house.ts";

const MAX_LINES = 250;
/** Share of exports with a doc comment. */
const MIN_DOCUMENTED = 0.9;
/** "contract" or "issue" with a number: the rule itself is said instead. */
const FOREIGN_DOCUMENT = /(?:\/\/|\*).*\b(?:contracts?|issues?) \d/i;

const files = await sourceFiles();
const importMap: ImportMap = JSON.parse(await Deno.readTextFile(new URL("deno.json", repository))).imports;
const imports = files.map((file) => ({ path: file.path, imports: fileImports(file, importMap) }));

/** House findings for a text as if it stood at `path`. */
function findings(path: string, text: string): string[] {
  return Deno.lint.runPlugin(house, new URL(path, repository).pathname, text).map((found) => found.id);
}

Deno.test("the top level holds nothing but the agreed entries, dot-files and what git ignores", async () => {
  const ignored = (await Deno.readTextFile(new URL(".gitignore", repository))).split("\n")
    .map((line) => line.replaceAll("/", ""));
  const entries = (await Array.fromAsync(Deno.readDir(repository))).map((entry) => entry.name)
    .filter((name) => !name.startsWith(".") && !ignored.includes(name) && !topLevel.includes(name));
  assertEquals(entries, []);
});

Deno.test("the lock file brings no package that is made for one kind of machine or wants to run at its installation", async () => {
  const { npm }: { npm: Record<string, { optionalDependencies?: string[]; scripts?: boolean }> } = JSON.parse(
    await Deno.readTextFile(new URL("deno.lock", repository)),
  );
  // They are optional parts that nothing here uses, 70 MB of the first start; what Deno writes anew is to be cut again.
  const native = Object.entries(npm).filter(([, { optionalDependencies = [] }]) =>
    optionalDependencies.length > 0
  );
  assertEquals(native.map(([name]) => name), []);
  // One package asks for a counter of installs: it is cut out too, and the first start has nothing to warn of.
  assertEquals(Object.entries(npm).filter(([, { scripts }]) => scripts).map(([name]) => name), []);
});

Deno.test("no import climbs the layer table", () => {
  const wrong = imports.flatMap(({ path, imports }) =>
    imports.flatMap((one) => one.path === null ? [] : climbs(path, one.path) ?? [])
  );
  assertEquals(wrong, []);
});

Deno.test("no file imports itself by any way round, types included", () => {
  const graph = new Map(imports.map(({ path, imports }) => [path, imports.flatMap((one) => one.path ?? [])]));
  assertEquals(findCycle(graph), null);
});

Deno.test("nothing that an engine child loads at its start loads node:crypto, which takes a fifth of the time", () => {
  const reached = new Set<string>(["lib/tenant/local/child/main.ts"]);
  for (const path of reached) {
    const file = files.find((one) => one.path === path);
    if (!file) continue;
    assert(path === "lib/core/sha256.ts" || !/^(?:import|\}).* from "node:crypto";$/m.test(file.text), path);
    for (const one of fileImports(file, importMap)) if (one.path !== null) reached.add(one.path);
  }
  assert(reached.has("lib/core/sha256.ts"));
});

Deno.test("no folder imports itself by any way round, types included", () => {
  const inside = imports.filter(({ path }) => !path.startsWith("tests/"));
  assertEquals(findCycle(folderGraph(inside)), null);
});

Deno.test("what is imported from outside is a part of Deno or a pinned name of the import map", () => {
  const wrong = imports.flatMap(({ path, imports }) =>
    imports.filter(({ specifier, path }) =>
      path === null && !specifier.startsWith("node:") &&
      !Object.keys(importMap).some((name) =>
        specifier === name || specifier.startsWith(`${name.replace(/\/$/, "")}/`)
      )
    ).map(({ specifier }) => `${path}: ${specifier}`)
  );
  assertEquals(wrong, []);
});

Deno.test("environment, KV, clocks and KV keys are touched in their one place only", () => {
  const wrong = files.flatMap((file) => findings(file.path, file.text).map((id) => `${file.path}: ${id}`));
  assertEquals(wrong, []);
});

Deno.test("no file of lib/ or routes/ is longer than the house allows", () => {
  const wrong = files.filter((file) => /^(lib|routes)\//.test(file.path))
    .map((file) => ({ path: file.path, lines: file.text.trimEnd().split("\n").length }))
    .filter(({ lines }) => lines > MAX_LINES);
  assertEquals(wrong, []);
});

Deno.test("most exports have a sentence of documentation", () => {
  const exported = files.filter(({ path }) => !path.startsWith("tests/")).flatMap(exportsOf);
  const share = exported.filter((one) => one.documented).length / exported.length;
  assert(share >= MIN_DOCUMENTED, `${exported.filter((one) => !one.documented).map(({ name }) => name)}`);
});

Deno.test("whatever function, class or value a file exports, another file names", () => {
  const named = new Map<string, number>();
  for (const { text } of files) {
    for (const word of new Set(text.match(/\w+/g))) named.set(word, (named.get(word) ?? 0) + 1);
  }
  const unused = files.filter(({ path }) => !path.startsWith("tests/")).flatMap(exportsOf)
    .filter(({ name, isValue }) => isValue && named.get(name.split(": ")[1] ?? "") === 1);
  assertEquals(unused.map(({ name }) => name), []);
});

Deno.test("comments name no document that is not in the repository", () => {
  const wrong = files.flatMap(({ path, text }) =>
    text.split("\n").filter((line) => FOREIGN_DOCUMENT.test(line)).map((line) => `${path}: ${line.trim()}`)
  );
  assertEquals(wrong, []);
});

Deno.test("file names are snake_case, and none is a barrel or a drawer", () => {
  const wrong = files.map((file) => file.path).filter((path) =>
    !/^([a-z0-9_]+\/)*[a-z0-9_]+(\.d)?\.tsx?$/.test(path) ||
    /(^|[/_])(index|utils?|helpers?)\.tsx?$/.test(path)
  );
  assertEquals(wrong, []);
});

Deno.test("the import check sees every form of import", () => {
  const text = [
    'import type { A } from "./a.ts";',
    'import { assert } from "@std/assert";',
    'import { Hono } from "hono";',
    'export * from "../core/b.ts";',
    'export { c } from "./c.ts";',
    'const d = await import("./d.ts");',
    "const e = await import(name);",
  ].join("\n");
  const found = fileImports({ url: new URL("lib/query/x.ts", repository), text }, importMap);
  assertEquals(found.map(({ specifier, path }) => path ?? specifier), [
    "lib/query/a.ts",
    "tests/std/assert.ts",
    "hono",
    "lib/core/b.ts",
    "lib/query/c.ts",
    "lib/query/d.ts",
    "a computed import",
  ]);
});

Deno.test("the layer check refuses what climbs, what crosses a row, and what the child may not see", () => {
  const refused: [string, string][] = [
    ["lib/core/errors.ts", "lib/config.ts"],
    ["lib/sql/grammar/syntax.ts", "lib/store/keys.ts"],
    ["lib/query/run.ts", "routes/app.ts"],
    ["lib/services/query/run_statements.ts", "tests/std/assert.ts"],
    ["lib/tenant/local/child/main.ts", "lib/tenant/local/frames/wire.ts"],
    ["lib/sql/words/quote.ts", "lib/sql/grammar/grammar.ts"],
    ["lib/tenant/local/lanes/jobs.ts", "lib/tenant/local/pool/scheduler.ts"],
    ["lib/tenant/local/pool/scheduler.ts", "lib/tenant/local/local_store.ts"],
    ["lib/tenant/remote/calls/lane.ts", "lib/tenant/remote/copies/run_restore.ts"],
    ["lib/sql/grammar/syntax.ts", "lib/engine/guard.ts"],
    ["lib/engine/guard.ts", "lib/store/keys.ts"],
    ["lib/engine/guard.ts", "lib/tenant/tenant_store.ts"],
    ["lib/new/thing.ts", "lib/core/errors.ts"],
  ];
  for (const [from, to] of refused) assert(climbs(from, to) !== null, `${from} → ${to}`);
  const allowed: [string, string][] = [
    ["lib/config.ts", "lib/config_forms.ts"],
    ["lib/config.ts", "lib/core/errors.ts"],
    ["lib/tenant/local/local_store.ts", "lib/tenant/tenant_store.ts"],
    ["lib/tenant/local/pool/scheduler.ts", "lib/tenant/local/lanes/jobs.ts"],
    ["lib/tenant/local/local_store.ts", "lib/tenant/local/pool/scheduler.ts"],
    ["lib/tenant/local/child/main.ts", "lib/sql/words/quote.ts"],
    ["lib/tenant/local/child/main.ts", "lib/engine/connection.ts"],
    ["main.ts", "routes/app.ts"],
    ["tests/config_test.ts", "main.ts"],
  ];
  for (const [from, to] of allowed) assertEquals(climbs(from, to), null);
});

Deno.test("the cycle check finds a way round and leaves a diamond alone", () => {
  const graph = new Map([["a", ["b"]], ["b", ["c", "d"]], ["c", ["d"]], ["d", []]]);
  assertEquals(findCycle(graph), null);
  assertEquals(findCycle(graph.set("d", ["b"])), ["b", "c", "d", "b"]);
});

Deno.test("the folder check finds a way round that no file goes", () => {
  const file = (path: string, ...imported: (string | null)[]) => ({
    path,
    imports: imported.map((one) => ({ specifier: one ?? "hono", path: one })),
  });
  const straight = [file("lib/a/one.ts", "lib/a/two.ts", "lib/b/three.ts", null), file("lib/b/three.ts")];
  assertEquals(findCycle(folderGraph(straight)), null);
  const round = [...straight, file("lib/b/four.ts", "lib/a/two.ts")];
  assertEquals(findCycle(folderGraph(round)), ["lib/a", "lib/b", "lib/a"]);
});

Deno.test("the house plugin refuses every disguise of what belongs to one place", () => {
  const refused: [rule: string, text: string][] = [
    ["house/one-place", 'Deno.env.get("PORT");'],
    ["house/one-place", 'Deno["env"].get("PORT");'],
    ["house/one-place", "globalThis.Deno.openKv();"],
    ["house/one-place", "const { openKv } = Deno;"],
    ["house/one-place", "process.env.PORT;"],
    ["house/one-place", "Date.now();"],
    ["house/one-place", "new Date();"],
    ["house/one-place", "Date();"],
    ["house/one-place", "performance.now();"],
    ["house/keys-in-one-place", 'kv.get(["a", id]);'],
    ["house/keys-in-one-place", "kv.delete([prefix, id]);"],
    ["house/keys-in-one-place", 'kv.atomic().check({ key: ["a"], versionstamp: null }).commit();'],
    ["house/keys-in-one-place", 'kv.atomic().set(["a"], 1).commit();'],
    ["house/keys-in-one-place", 'kv.list({ prefix: ["a"] });'],
    ["house/keys-in-one-place", 'kv.getMany([["a"], ["b"]]);'],
    ["house/keys-in-one-place", 'kvGet(kv, ["a"]);'],
    ["house/keys-in-one-place", 'const key: Deno.KvKey = ["a"];'],
    ["house/keys-in-one-place", 'const key = ["a"] satisfies Key<string>;'],
    ["house/keys-in-one-place", 'const key = (id: string): Deno.KvKey => ["a", id];'],
    ["house/no-double-cast", "const a = b as unknown as C;"],
    ["house/no-default-export", "export default 1;"],
    ["house/no-literal-spread", "const a = { ...{ b, c }, d };"],
  ];
  for (const [rule, text] of refused) assertEquals(findings("lib/services/x.ts", text), [rule], text);
  assertEquals(findings("routes/x.ts", "try { a(); } catch { b(); }"), ["house/one-boundary"]);
  assertEquals(findings("routes/x.ts", "try { a(); } finally { b(); }"), []);
  for (
    const text of [
      "const a = { ...b, ...(c ? { d } : {}) };",
      "new Date(ms);",
      "bytes.set([1, 2], 4);",
      "map.get(key);",
      "kv.get(keys.token(a, b));",
    ]
  ) {
    assertEquals(findings("lib/services/x.ts", text), [], text);
  }
});
