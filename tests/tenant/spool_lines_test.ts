// The lines of the spool of log rows: what was written comes back, of this version and of the one before, and damage takes
// one line with it.
import { assert, assertEquals } from "@std/assert";
import { newId } from "../../lib/core/ids.ts";
import { readSpoolLine, type SpooledRows, spoolLines } from "../../lib/tenant/local/log/spool_lines.ts";
import type { LogValues } from "../../lib/tenant/log_columns.ts";

const SQL = "SELECT name FROM items WHERE id = ?";

function queryRow(databaseId: string, at: number, sql = SQL): LogValues {
  const ts = 1_700_000_000_000 + at;
  return [newId("qry", ts), ts, "ns_1", databaseId, "tok_1", null, "query", "ok", null, 1, 0, 0.02, 1, sql];
}

function call(at: number): LogValues {
  return [`evt_${at}`, at, "join", "error", 403, 0, 0, 0.5, null, null, "policy_denied", null, 2];
}

/** By database, as a spool reads it. */
function read(text: string): Map<string, { namespaceId: string; rows: LogValues[] }> {
  const found = new Map<string, { namespaceId: string; rows: LogValues[] }>();
  for (const { databaseId, namespaceId, rows } of text.split("\n").flatMap(readSpoolLine)) {
    const known = found.get(databaseId) ?? { namespaceId, rows: [] };
    known.rows.push(...rows);
    found.set(databaseId, known);
  }
  return found;
}

function entries(count: number, each: number): SpooledRows[] {
  return Array.from({ length: count }, (_, at) => {
    const databaseId = newId("db", at);
    const rows = Array.from(
      { length: each },
      (_, row) => queryRow(databaseId, row, row % 3 ? SQL : `${SQL} -- ${at}`),
    );
    return { databaseId, namespaceId: `ns_${at % 2}`, rows: [...rows, call(at)] };
  });
}

Deno.test("rows of many databases and of both logs come back, each with its own", () => {
  for (const [count, each] of [[1, 0], [1, 1], [1, 300], [2, 1], [600, 1], [40, 30]] as const) {
    const some = entries(count, each);
    const expected = new Map(
      some.map(({ databaseId, namespaceId, rows }) => [databaseId, { namespaceId, rows: [...rows] }]),
    );
    const found = read(spoolLines(some));
    const sorted = (one: typeof found) =>
      [...one].map((
        [id, { namespaceId, rows }],
      ) => [id, namespaceId, rows.map((row) => JSON.stringify(row)).sort()]);
    assertEquals(
      new Map(sorted(found).map(([id, ...rest]) => [id, rest])),
      new Map(sorted(expected).map(([id, ...rest]) => [id, rest])),
    );
  }
});

Deno.test("a row whose database is named otherwise than where it belongs keeps both names", () => {
  const [here, there, third] = [newId("db", 1), newId("db", 2), newId("db", 3)];
  const some = [
    { databaseId: here, namespaceId: "ns_1", rows: [queryRow(there, 1)] },
    { databaseId: third, namespaceId: "ns_1", rows: [queryRow(third, 1)] },
  ];
  assertEquals([...read(spoolLines(some)).values()].map(({ rows }) => rows), some.map(({ rows }) => rows));
});

Deno.test("lines of the version before are read", () => {
  const id = newId("db", 1);
  const rows = [queryRow(id, 1), queryRow(id, 2), call(3)];
  assertEquals([...read(`${JSON.stringify([id, "ns_1", ...rows])}\n`)], [[id, {
    namespaceId: "ns_1",
    rows,
  }]]);
});

Deno.test("a line that is damaged, or no line of a spool, takes only itself with it", () => {
  const text = spoolLines(entries(600, 1));
  const lines = text.split("\n").filter(Boolean);
  const count = (one: string) => [...read(one).values()].reduce((sum, { rows }) => sum + rows.length, 0);
  assertEquals(count(text), 1200);
  const [first = ""] = lines;
  assert(lines.length > 3);
  const broken = [
    first.slice(0, -9),
    first.slice(5),
    "",
    "null",
    "7",
    "{}",
    '{"rows":3}',
    '{"rows":1e9,"columns":[]}',
  ];
  const odd = [
    '{"rows":2,"columns":[[],[]]}',
    '{"rows":2,"columns":["db_1","ns_1",[[1],{}]]}',
    '["db_x","ns_1",[1]]',
    "[]",
  ];
  for (const line of [...broken, ...odd]) {
    assertEquals(count([line, ...lines.slice(1)].join("\n")), 1200 - count(first), line.slice(0, 60));
  }
});
