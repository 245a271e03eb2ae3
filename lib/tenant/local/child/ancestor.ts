// The state in which a branch began, kept beside it: what its changes and a merge are measured against.
import { Connection } from "./connection.ts";
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

function pathOf(path: string): string {
  return `${path.slice(0, -".db".length)}.ancestor.db`;
}
