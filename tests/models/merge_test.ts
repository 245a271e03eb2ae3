// Random changes of a branch and of its trunk, merged, beside three maps: ancestor, trunk and branch.
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { startApp } from "../testing/start_app.ts";
import { modelDatabase } from "./model_database.ts";
import { holds } from "./model_run.ts";

type Row = readonly (string | number | null)[];
/** Rows by their keys. */
type Table = ReadonlyMap<number, Row>;
type OnConflict = "abort" | "theirs" | "ours";

interface Change {
  readonly id: number;
  readonly verb: "insert" | "delete" | "update a" | "update b";
  readonly value: string | number | null;
}

const cells = fc.constantFrom(1, 2, "x", "1", 0.5, null);
const changes = fc.array(
  fc.record({
    id: fc.integer({ min: 1, max: 6 }),
    verb: fc.constantFrom("insert", "delete", "update a", "update b"),
    value: cells,
  }) satisfies fc.Arbitrary<Change>,
  { maxLength: 6 },
);
const cases = fc.record({
  ancestor: fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 6 }), cells, cells), {
    selector: ([id]) => id,
  }),
  ...{ trunk: changes, branch: changes },
  onConflict: fc.constantFrom("abort", "theirs", "ours") satisfies fc.Arbitrary<OnConflict>,
});

Deno.test("a merge does what comparing three maps, row by row and column by column, says", async () => {
  await using app = await startApp();
  const namespace = await app.namespace();
  await holds(cases, 12, async ({ ancestor, trunk, branch, onConflict }) => {
    await using database = await modelDatabase(app, namespace);
    const at = async (path: string, sql: string, params: readonly unknown[] = []): Promise<Row[]> => {
      const body = { sql, params };
      const answer = await app.request("POST", `${path}/query`, { token: namespace.token, body });
      assertEquals(answer.status, 200, answer.text);
      return JSON.parse(answer.text).data.rows;
    };
    const branchPath = `${database.path}@side`;
    await at(database.path, "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)");
    for (const row of ancestor) await at(database.path, "INSERT INTO t VALUES (?, ?, ?)", row);
    const claim = await database.post("claim_branch", { purpose: "a model", ref: "side" });
    assertEquals(claim.status, 201, claim.text);
    for (const [path, some] of [[database.path, trunk], [branchPath, branch]] as const) {
      for (const change of some) await at(path, ...statementOf(change));
    }
    const base: Table = new Map(ancestor.map((row) => [row[0], row]));
    const [ours, theirs] = [changed(base, trunk), changed(base, branch)];
    const { table, conflicts } = merged({ base, ours, theirs }, onConflict);
    for (const dryRun of [true, false]) {
      const answer = await database.post("branches/side/merge", { mode: "data", onConflict, dryRun });
      const stops = conflicts > 0 && onConflict === "abort" && !dryRun;
      assertEquals(answer.status, stops ? 409 : 200, answer.text);
      if (!stops) assertEquals(JSON.parse(answer.text).data.conflicts.count, conflicts, answer.text);
      const wanted = dryRun || stops ? ours : table;
      const rows = [...wanted.values()].sort(([one], [two]) => Number(one) - Number(two));
      const found: readonly Row[] = await at(database.path, "SELECT * FROM t ORDER BY id");
      assertEquals(found, rows, `${answer.text} ${dryRun}`);
    }
    const removed = await app.request("DELETE", `${database.path}/branches/side`, { token: namespace.token });
    assertEquals(removed.status, 200, removed.text);
  });
});

function statementOf({ id, verb, value }: Change): [sql: string, params: readonly unknown[]] {
  if (verb === "insert") return ["INSERT OR IGNORE INTO t VALUES (?, ?, ?)", [id, value, value]];
  if (verb === "delete") return ["DELETE FROM t WHERE id = ?", [id]];
  return [`UPDATE t SET ${verb.slice(-1)} = ? WHERE id = ?`, [value, id]];
}

function changed(from: Table, some: readonly Change[]): Table {
  const table = new Map(from);
  for (const { id, verb, value } of some) {
    const row = table.get(id);
    if (verb === "insert") table.set(id, row ?? [id, value, value]);
    else if (verb === "delete") table.delete(id);
    else if (row) {
      table.set(id, verb === "update a" ? [id, value, row[2] ?? null] : [id, row[1] ?? null, value]);
    }
  }
  return table;
}

interface Sides {
  readonly base: Table;
  readonly ours: Table;
  readonly theirs: Table;
}

function merged({ base, ours, theirs }: Sides, onConflict: OnConflict): { table: Table; conflicts: number } {
  const table = new Map(ours);
  let conflicts = 0;
  for (const id of new Set([...base.keys(), ...theirs.keys()])) {
    const found = mergedRow(base.get(id), ours.get(id), theirs.get(id));
    if (found.conflict) conflicts++;
    const row = found.conflict && onConflict !== "theirs" ? ours.get(id) : found.theirs;
    if (row === undefined) table.delete(id);
    else table.set(id, row);
  }
  return { table, conflicts };
}

/** `theirs`: what stands there where the branch's side is taken. */
function mergedRow(
  base: Row | undefined,
  ours: Row | undefined,
  theirs: Row | undefined,
): { readonly theirs: Row | undefined; readonly conflict: boolean } {
  if (same(theirs, base) || same(theirs, ours)) return { theirs: ours, conflict: false };
  if (theirs === undefined || ours === undefined) return { theirs, conflict: !same(ours, base) };
  const places = theirs.flatMap((value, at) => value === base?.[at] || value === ours[at] ? [] : [at]);
  const conflict = base === undefined || places.some((at) => ours[at] !== base[at]);
  return {
    theirs: ours.map((value, at) => places.includes(at) ? theirs[at] ?? null : value),
    conflict: conflict && places.length > 0,
  };
}

function same(one: Row | undefined, two: Row | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(two);
}
