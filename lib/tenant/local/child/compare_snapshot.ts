// Finds the effect of a restore by comparing the file with a copy of the snapshot.
import { type RestoreEffect, UNREADABLE_DIGEST } from "../../../sql/branch_report.ts";
import { PLAIN_ROWS } from "../../../sql/row_form.ts";
import { restoreEffect } from "../../branches/restore_effect.ts";
import { openTrial, runBranchWork } from "./branch_work.ts";
import { Connection } from "../../../engine/connection.ts";
import { isDamage } from "../../../engine/engine_failure.ts";
import { removeDatabase } from "./file_copy.ts";
import type { Reply } from "./protocol.ts";
import { stagedPath, stageSnapshot } from "./stage_snapshot.ts";
import type { TenantFile } from "./tenant_file.ts";
import type { CompareSnapshotRequest } from "./wire_log.ts";

type Compared = Extract<Reply, { t: "restore_effect" | "missing" | "damaged" }>;
type Suspect = Pick<CompareSnapshotRequest, "suspect">;

/** The effect of a restore; absent where there is nothing to restore. Needs the write slot. */
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

/** Null when the present state cannot be read. */
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
    const work = restoreEffect({ openTrial, rowForm: PLAIN_ROWS, byLine: false });
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
