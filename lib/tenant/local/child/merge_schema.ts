// Brings a branch's schema changes into the trunk, object by object.
import { objectKey, type SchemaObject, type SchemaShape } from "../../../sql/schema_shape.ts";
import { objectsByKey } from "../../../sql/schema_shape.ts";
import type { KnownRenames } from "../../../sql/table_lineage.ts";
import { brokenReferences } from "./broken_references.ts";
import type { MergeRun } from "./merge_run.ts";
import { provenStatements, readSchema } from "./schema_reader.ts";

/** Runs the statements in the open transaction. Throws what the engine throws. */
export function mergeSchema(
  run: MergeRun,
  known: KnownRenames,
  ancestor: SchemaShape,
  branch: SchemaShape,
): void {
  const writer = run.trunk.writer();
  const trunk = readSchema(writer);
  const wanted = mergedSchema(run, { ancestor, branch, trunk });
  const brokenBefore = brokenReferences(writer, null);
  for (const sql of provenStatements(trunk, wanted, known)) {
    if (/^PRAGMA foreign_keys/i.test(sql)) continue; // off already, and without meaning inside a transaction
    writer.schemaChanged();
    const before = changesOf(run);
    writer.run("schema", sql, [], { maxRows: 0, maxBytes: 0 }, false);
    run.rowsWritten += changesOf(run) - before;
    run.statements.push(sql);
  }
  if (run.statements.length === 0) return;
  // A table that went must not leave rows that refer to it.
  for (const [key, broken] of brokenReferences(writer, null)) {
    if (!brokenBefore.has(key)) {
      run.refusal =
        `Rows of ${broken.table} would refer to rows of ${broken.parent} that are not there; merge the data first`;
    }
  }
}

/** The trunk's schema with the branch's changes in it; what both have changed differently is a conflict. */
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
      const { onConflict } = run.request;
      run.conflict({
        ...{ kind: "schema", table: (after ?? before ?? ours)?.table ?? "", key: [key] },
        ...{ ancestor: textOf(before), ours: textOf(ours), theirs: textOf(after) },
      }, onConflict !== "abort");
      if (onConflict !== "theirs") continue;
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

/** The branch's where the table is as in the branch, else the trunk's. */
function columnsOf(
  objects: readonly SchemaObject[],
  branch: SchemaShape,
  trunk: SchemaShape,
): SchemaShape["columns"] {
  const theirs = objectsByKey(branch);
  return new Map(
    objects.filter(({ type }) => type === "table").map((table) => {
      const shape = theirs.get(`table ${objectKey(table.name)}`) === table ? branch : trunk;
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

function changesOf(run: MergeRun): number {
  return Number(run.trunk.writer().internalRow("SELECT total_changes()")?.[0] ?? 0);
}
