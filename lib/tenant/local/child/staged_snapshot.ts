// Stages a snapshot: copies it beside the database's file, checks the copy, and compares it with the present state. A
// restore then replaces the file by the copy.
import { Connection } from "../../../engine/connection.ts";
import { isDamage } from "../../../engine/engine_failure.ts";
import { copyDatabase, exists, removeDatabase } from "./file_copy.ts";
import { snapshotsBeside } from "../../folders_beside.ts";
import type { CompareSnapshotRequest, Reply } from "./protocol.ts";
import type { TenantFile } from "./tenant_file.ts";
import { CHRONICLES } from "../../../sql/service/chronicles.ts";
import { type RestoreEffect, UNREADABLE_DIGEST } from "../../../sql/service/branch_report.ts";
import { PLAIN_ROWS } from "../../../sql/words/row_form.ts";
import { restoreEffect } from "../../branches/restore_effect.ts";
import { openTrial, runBranchWork } from "./branch_work.ts";

/** The path of the staged copy. */
export function stagedPath(file: TenantFile): string {
  return `${file.path}.restoring`;
}

/** Copies the snapshot and opens the copy, which the caller has to remove. Needs the write slot. */
export function stageSnapshot(
  file: TenantFile,
  snapshot: string,
): Connection | Extract<Reply, { t: "missing" | "damaged" }> {
  const source = `${snapshotsBeside(file.path)}/${snapshot}.db`;
  if (!exists(source)) return { t: "missing" };
  const staged = stagedPath(file);
  removeDatabase(staged);
  copyDatabase(source, staged);
  return openWhole(staged) ?? { t: "damaged" };
}

/** Opens a copy; null where it holds no whole database. The copy is removed unless it is returned open. */
export function openWhole(staged: string): Connection | null {
  let target: Connection | null = null;
  let whole = false;
  try {
    target = new Connection(staged);
    // Other lines report rows that break constraints, which an undamaged file may also hold.
    const [line] = target.internalRow("PRAGMA quick_check(1)") ?? [];
    for (const table of CHRONICLES) target.internalRow(`SELECT max(id) FROM ${table}`);
    whole = !String(line).startsWith("*** in database");
    return whole ? target : null;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return null;
  } finally {
    if (!whole) {
      target?.close();
      removeDatabase(staged);
    }
  }
}

type Compared = Extract<Reply, { t: "restore_effect" | "missing" | "damaged" }>;
type Suspect = Pick<CompareSnapshotRequest, "suspect">;

/** Finds the effect of a restore; absent where the snapshot is missing or damaged. Needs the write slot. */
export function compareSnapshot(
  file: TenantFile,
  request: Omit<CompareSnapshotRequest, "op" | "db">,
): { readonly reply: Compared; readonly effect?: RestoreEffect | null } {
  const target = stageSnapshot(file, request.snapshot);
  if (!(target instanceof Connection)) return { reply: target };
  try {
    return { reply: { t: "restore_effect" }, effect: effectOn(file, target, request) };
  } finally {
    target.close();
    removeDatabase(stagedPath(file));
  }
}

/** Compares the present state with the staged snapshot; null where the present state cannot be read. */
export function effectOn(
  file: TenantFile,
  target: Connection,
  { suspect }: Suspect,
): RestoreEffect | null {
  if (suspect) return null;
  let reader: Connection | null = null;
  try {
    reader = file.reader();
    reader.internalRun("BEGIN");
    const work = restoreEffect({ openTrial, rowForm: PLAIN_ROWS, reading: "values" });
    return runBranchWork(work, { ancestor: reader, branch: target });
  } catch (error) {
    if (!isDamage(error)) throw error;
    return null;
  } finally {
    if (reader?.database.isTransaction) reader.internalRun("ROLLBACK");
  }
}

/** The digest that is compared with `expects` of a restore. */
export function digestOf(effect: RestoreEffect | null): string {
  return effect?.digest ?? UNREADABLE_DIGEST;
}
