// Opens copies of one database for look-ups by key, reads them at random, and says how many bytes of memory each has taken and
// how many it counts. Arguments: a folder, how many, what each has besides (a number of tables, or what takes an engine the most
// memory in few characters), and the journal mode of their files.
import { DatabaseSync } from "node:sqlite";
import { LookupConnection } from "../../lib/engine/lookup_connection.ts";
import { createFile } from "../../lib/tenant/local/child/create_file.ts";
import { LookupFile } from "../../lib/tenant/local/lookups/lookup_file.ts";
import { print } from "../testing/print.ts";

const [folder = "", count = "0", besides = "0", mode = "wal"] = Deno.args;
const ROWS = 4000;
/** Opened before the memory is looked at: they also take what all share. */
const FIRST = 40;

const template = `${folder}/template.db`;
createFile(template);
const maker = new DatabaseSync(template);
maker.exec(
  "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n " +
    `WHERE i < ${ROWS}) INSERT INTO t SELECT i, hex(randomblob(50)) FROM n`,
);
const many = (count: number, part: string, between: string) => Array(count).fill(part).join(between);
const sum = many(150, "a=1", " OR ");
/** Some 600 characters each. */
const dense: Readonly<Record<string, (at: number) => string>> = {
  triggers: (at) => `CREATE TRIGGER g${at} AFTER INSERT ON t BEGIN ${many(60, "SELECT 1;", "")} END`,
  views: (at) => `CREATE VIEW v${at} AS SELECT ${many(250, "1", ",")}`,
  generated: (at) => `CREATE TABLE g${at} (a, b AS(${sum}))`,
  defaults: (at) => `CREATE TABLE d${at} (a DEFAULT/**/(${many(150, "1=1", " OR ")}))`,
  partial: (at) => `CREATE INDEX p${at} ON t (a) WHERE ${sum}`,
  expressions: (at) => `CREATE INDEX e${at} ON t ((${sum}))`,
  checks: (at) => `CREATE TABLE c${at} (a CHECK (${sum}))`,
  columns: (at) => `CREATE TABLE c${at} (${Array.from({ length: 160 }, (_, one) => `c${one}`)})`,
};
maker.exec("BEGIN");
for (let at = 0; at < (Number(besides) || (besides in dense ? 30 : 0)); at++) {
  maker.exec(
    dense[besides]?.(at) ??
      `CREATE TABLE other_${at} (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price INTEGER, stock INTEGER, note TEXT); ` +
        `CREATE INDEX by_name_${at} ON other_${at} (name)`,
  );
}
maker.exec("COMMIT");
const version = Number(maker.prepare("PRAGMA schema_version").get()?.["schema_version"]);
maker.exec(`PRAGMA journal_mode=${mode}`);
maker.close();

const open: LookupFile[] = [];
for (let at = 0; at < FIRST; at++) open.push(opened(at));
const before = anonymousBytes();
for (let at = FIRST; at < FIRST + Number(count); at++) open.push(opened(at));
const bytes = (anonymousBytes() - before) / Number(count);
print(JSON.stringify({ bytes, counted: open[0]?.bytes }));

function opened(at: number): LookupFile {
  const path = `${folder}/${at}.db`;
  Deno.copyFileSync(template, path);
  const file = new LookupFile(LookupConnection, path, version);
  const lookup = file.compile("SELECT a FROM t WHERE id = ?");
  if (lookup === null) throw new Error("the schema has another version");
  for (let turn = 0; turn < 30; turn++) {
    const id = 1 + Math.floor(Math.random() * ROWS);
    file.connection.read(lookup, [id], { maxRows: 10, maxBytes: 10_000 }, { integersAsStrings: false });
  }
  return file;
}

/** What is no part of a file, so neither the engine's program nor the logs' indexes. */
function anonymousBytes(): number {
  const status = Deno.readTextFileSync("/proc/self/status");
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}
