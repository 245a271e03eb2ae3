// Merges a branch's schema changes into the trunk, object by object.
import { moveDescriptions, writtenRename } from "../../sql/grammar/description_renames.ts";
import {
  objectKey,
  objectsByKey,
  type SchemaObject,
  type SchemaShape,
} from "../../sql/schema/schema_shape.ts";
import { brokenReferences, referringTables } from "./broken_references.ts";
import type { Compared } from "./compare_sides.ts";
import type { MergeRun } from "./merge_run.ts";
import { provenStatements } from "./proven_statements.ts";
import type { OpenTrial } from "./trial_database.ts";
import { readSchema } from "./read_schema.ts";
import { mustAll, rowsOf, type Work } from "./work.ts";

/** Runs the merge's statements in the open transaction. Throws what the engine throws. */
export function* mergeSchema(
  run: MergeRun,
  { ancestor, branch, known }: Compared,
  open: OpenTrial,
): Work<void> {
  const trunk = yield* readSchema("trunk");
  const wanted = mergedSchema(run, { ancestor: ancestor.shape, branch: branch.shape, trunk });
  // Foreign keys are already off, and the PRAGMA has no effect inside a transaction.
  const plan = yield* provenStatements(open, trunk, wanted, known);
  const statements = plan.statements.filter((sql) => !/^PRAGMA foreign_keys/i.test(sql));
  if (statements.length === 0) return;
  const brokenBefore = yield* brokenReferences(yield* referringTables(null));
  const before = yield* changesSoFar();
  yield* mustAll("trunk", statements.map((sql) => ({ sql, params: [] })), "schema");
  run.rowsWritten += (yield* changesSoFar()) - before;
  run.statements.push(...statements);
  run.changedSchema(plan.actions);
  // The service's own entries about a renamed object move to the new name.
  yield* mustAll(
    "trunk",
    statements.flatMap((sql) => {
      const rename = writtenRename(sql);
      return rename === null ? [] : moveDescriptions(rename);
    }),
  );
  // A dropped table must not leave rows that refer to it.
  for (const [key, broken] of yield* brokenReferences(yield* referringTables(null))) {
    if (!brokenBefore.has(key)) {
      run.refusal =
        `Rows of ${broken.table} would refer to rows of ${broken.parent} that are not there; merge the data first`;
    }
  }
}

/** The trunk's schema with the branch's changes; an object that both changed differently is a conflict. */
function mergedSchema(
  run: MergeRun,
  { ancestor, branch, trunk }: Readonly<Record<"ancestor" | "branch" | "trunk", SchemaShape>>,
): SchemaShape {
  const old = objectsByKey(ancestor);
  const theirs = objectsByKey(branch);
  const merged = objectsByKey(trunk);
  for (const key of new Set([...old.keys(), ...theirs.keys()])) {
    const [before, after, ours] = [old.get(key), theirs.get(key), merged.get(key)];
    if (before?.sql === after?.sql || after?.sql === ours?.sql) continue;
    if (ours?.sql !== before?.sql) {
      run.conflict({
        kind: "schema",
        table: (after ?? before ?? ours)?.table ?? "",
        key: [key],
        ancestor: textOf(before),
        ours: textOf(ours),
        theirs: textOf(after),
      });
      if (run.onConflict !== "theirs") continue;
    }
    if (after === undefined) merged.delete(key);
    else merged.set(key, after);
    run.written.add((after ?? before)?.table ?? "");
  }
  const objects = [...merged.values()];
  return {
    objects,
    columns: columnsOf(objects, branch, trunk),
    userVersion: mergedVersion(ancestor, branch, trunk),
  };
}

/** The columns of each table: the branch's where the table is as in the branch, else the trunk's. */
function columnsOf(
  objects: readonly SchemaObject[],
  branch: SchemaShape,
  trunk: SchemaShape,
): SchemaShape["columns"] {
  const theirs = objectsByKey(branch);
  return new Map(
    objects.filter(({ type }) => type === "table").map((table) => {
      const shape = theirs.get(objectKey(table)) === table ? branch : trunk;
      return [table.name, shape.columns.get(table.name) ?? []];
    }),
  );
}

function mergedVersion(ancestor: SchemaShape, branch: SchemaShape, trunk: SchemaShape): number {
  return branch.userVersion === ancestor.userVersion ? trunk.userVersion : branch.userVersion;
}

function textOf(object: SchemaObject | undefined): string[] | null {
  return object === undefined ? null : [object.sql];
}

function* changesSoFar(): Work<number> {
  return Number((yield* rowsOf("trunk", "SELECT total_changes()"))[0]?.[0] ?? 0);
}
