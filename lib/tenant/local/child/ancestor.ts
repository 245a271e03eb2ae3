// The state in which a branch began, kept beside it: what its changes and a merge are measured against.
import { Connection } from "../../../engine/connection.ts";
import { copyDatabase, exists, removeDatabase } from "./file_copy.ts";
import type { TenantFile } from "./tenant_file.ts";

/** Where the ancestor of the branch at `path` is, or null where there is none. */
export function ancestorPath(path: string): string | null {
  const ancestor = pathOf(path);
  return exists(ancestor) ? ancestor : null;
}

/** Copies what is there now, before anybody else can find it. */
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

/** Bytes of a write-ahead log that are not worth folding in. */
const SHORT_LOG_BYTES = 8 * 1024 * 1024;

/** A log stays as long as it ever was, and every copy would copy it. One that readers still need stays. */
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
