// The stored ancestor of a branch: the state in which it began, with which comparisons and merges compare it.
import { Connection } from "../../../engine/connection.ts";
import { copyDatabase, exists, removeDatabase } from "./file_copy.ts";
import type { TenantFile } from "./tenant_file.ts";

/** The path of the ancestor of the branch at `path`, or null where there is none. */
export function ancestorPath(path: string): string | null {
  const ancestor = pathOf(path);
  return exists(ancestor) ? ancestor : null;
}

/** Copies the present state as the ancestor, before anybody else can find the branch. */
export function keepAncestor(file: TenantFile): void {
  file.writer();
  const path = pathOf(file.path);
  removeDatabase(path);
  copyDatabase(file.path, path);
  const ancestor = new Connection(path, false);
  try {
    // Nobody writes it any more: without a log beside it, it can be read without writing anything.
    ancestor.internalRow("PRAGMA journal_mode=DELETE");
  } finally {
    ancestor.close();
  }
}

/** A write-ahead log up to this many bytes is not worth folding in. */
const SHORT_LOG_BYTES = 8 * 1024 * 1024;

/** Folds a long log into the file, because a log never shrinks and every copy would include it. A log in use stays. */
export function foldLog(file: TenantFile): void {
  const writer = file.writer();
  if (!exists(`${file.path}-wal`) || Deno.statSync(`${file.path}-wal`).size < SHORT_LOG_BYTES) return;
  const wait = Number(writer.internalRow("PRAGMA busy_timeout")?.[0] ?? 0);
  writer.database.exec("PRAGMA busy_timeout=0");
  try {
    writer.internalRow("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    writer.database.exec(`PRAGMA busy_timeout=${wait}`);
  }
}

function pathOf(path: string): string {
  return `${path.slice(0, -".db".length)}.ancestor.db`;
}
