// Holds the README to the code: its tables are the code's tables, and what it names exists.
import { assert, assertEquals } from "@std/assert";
import { configTable } from "../lib/config.ts";
import { errorTable } from "../lib/core/error_table.ts";
import { layers } from "./architecture/layers.ts";
import { repository } from "./architecture/source_files.ts";

const readme = await Deno.readTextFile(new URL("README.md", repository));

/** Cells of the first table under a heading, without the table's own head. */
function tableUnder(heading: string): string[][] {
  const lines = readme.split("\n");
  const section = lines.slice(lines.indexOf(heading) + 1);
  const start = section.findIndex((line) => line.startsWith("|"));
  assert(lines.includes(heading) && start >= 0, `README has no table under ${heading}`);
  const length = section.slice(start).findIndex((line) => !line.startsWith("|"));
  return section.slice(start, length < 0 ? undefined : start + length).slice(2).map(cells);
}

/** `\|` is a bar inside a cell. */
function cells(line: string): string[] {
  return line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** What a reader sees as code in the README. */
const codes = [...readme.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code ?? "");

Deno.test("the README's configuration table is the code's", () => {
  const expected = Object.values(configTable).map((row) => [
    `\`${row.variable}\``,
    row.default === null ? "unset" : `\`${row.default}\``,
    row.secret ? `${row.form} (secret)` : row.form,
    row.meaning,
  ]);
  assertEquals(tableUnder("## Configuration"), expected);
});

Deno.test("the README's table of error codes is the code's", () => {
  const expected = Object.entries(errorTable).map(([code, row]) => [
    `\`${code}\``,
    String(row.status),
    row.message,
    row.retryable ? "yes" : "no",
    "retryAfterSec" in row ? `${row.retryAfterSec} s` : "",
  ]);
  assertEquals(tableUnder("## Error codes"), expected);
});

Deno.test("the README's layers are those that the architecture test holds", () => {
  const places = tableUnder("### Layers").map(([, place]) =>
    [...(place ?? "").matchAll(/`([^`]+)`/g)].map(([, code]) => code)
  );
  assertEquals(places, layers.filter((row) => !row.includes("tests/")).map((row) => [...row]));
});

Deno.test("every task that the README names exists", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", repository)));
  const named = [...readme.matchAll(/\bdeno(?:@[\d.]+)? task ([a-z_:-]+)/g)].map(([, name]) => name ?? "");
  assert(named.includes("start") && named.includes("test"));
  assertEquals(named.filter((name) => !(name in tasks)), []);
});

Deno.test("every file and folder that the README names exists", async () => {
  const paths = codes.filter((code) => /^(lib|routes|tests)\/[\w./-]*$/.test(code));
  const missing: string[] = [];
  for (const path of new Set(paths)) {
    const found = await Deno.stat(new URL(path, repository)).then(() => true, () => false);
    if (!found) missing.push(path);
  }
  assertEquals(missing, []);
});

Deno.test("every test that the README's tables of published failures and of attacks name exists", async () => {
  const tables = { "### Published failures": 23, "### Attacks on published endpoints": 41 };
  for (const [heading, length] of Object.entries(tables)) {
    const rows = tableUnder(heading);
    assertEquals(rows.length, length);
    for (const [, here = ""] of rows) {
      const [, path, name] = /^`(tests\/\S+_test\.ts)`: (.+)$/.exec(here) ?? [];
      assert(path !== undefined && name !== undefined, here);
      const text = await Deno.readTextFile(new URL(path, repository));
      assert(text.includes(`Deno.test(${JSON.stringify(name)}, `), `${path} has no test "${name}"`);
    }
  }
});

Deno.test("every test and check that the README's assumptions about Turso name exists", async () => {
  const rows = tableUnder("### Assumptions about Turso's platform API");
  assert(rows.length > 0);
  for (const named of rows.flatMap(([, , noticed = ""]) => noticed.split("; "))) {
    const [, path, name] = /^`(tests\/\S+\.ts)`: (.+)$/.exec(named) ?? [];
    assert(path !== undefined && name !== undefined, named);
    const text = await Deno.readTextFile(new URL(path, repository));
    assert(text.includes(JSON.stringify(name)), `${path} has no "${name}"`);
  }
});

Deno.test("the README names no path of a machine", () => {
  const roots = "home|root|Users|work|tmp|mnt|opt|usr|var|srv|etc|proc";
  const paths = readme.match(new RegExp(`(?<![\\w.:/-])(?:/(?:${roots})/|[A-Z]:\\\\)\\S*`, "g"));
  assertEquals(paths, null);
});
