// Copies a snapshot beside the file that the copy is to replace or to be compared with.
import { Connection } from "../../../engine/connection.ts";
import { isDamage } from "../../../engine/engine_failure.ts";
import { copyDatabase, exists, removeDatabase, snapshotFolder } from "./file_copy.ts";
import type { Reply } from "./protocol.ts";
import type { TenantFile } from "./tenant_file.ts";

/** Tables of history, which a restore does not undo. Their ids sort by time. */
export const CHRONICLES = [
  "_service_meta_query_log",
  "_service_meta_audit",
  "_service_meta_endpoint_call",
] as const;

/** The path of the copy. */
export function stagedPath(file: TenantFile): string {
  return `${file.path}.restoring`;
}

/** Copies the snapshot and opens the copy, which the caller has to remove. Needs the write slot. */
export function stageSnapshot(
  file: TenantFile,
  snapshot: string,
): Connection | Extract<Reply, { t: "missing" | "damaged" }> {
  const source = `${snapshotFolder(file.path)}/${snapshot}.db`;
  if (!exists(source)) return { t: "missing" };
  const staged = stagedPath(file);
  removeDatabase(staged);
  copyDatabase(source, staged);
  return openWhole(staged) ?? { t: "damaged" };
}

/** The staged copy of a snapshot; null where that holds no whole database. Then, or if it throws, nothing is left of it. */
export function openWhole(staged: string): Connection | null {
  let target: Connection | null = null;
  let whole = false;
  try {
    target = new Connection(staged, false);
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
