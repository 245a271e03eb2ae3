// A branch's file and the file of its ancestor beside it: stores the ancestor, and compares the branch with it.
import type { RowForm } from "../../../sql/words/row_form.ts";
import { type Compared, type CompareOptions, compareSides } from "../../branches/compare_sides.ts";
import { openTrial, runBranchWork } from "./branch_work.ts";
import { foldNow } from "./fold_now.ts";
import { Connection } from "../../../engine/connection.ts";
import type { Reply } from "./protocol.ts";
import type { TenantFile } from "./tenant_file.ts";
import { copyDatabase, exists, removeDatabase } from "./file_copy.ts";

/** Connections to a branch, in a read transaction, and to its ancestor. */
export interface OpenBranch {
  readonly ancestor: Connection;
  readonly branch: Connection;
}

/** Compares a branch with its ancestor, without its rows; null where the file is no branch's. */
export function diffBranch(file: TenantFile, rowForm: RowForm): Compared | null {
  return withBranch(file, (open) => compareBranch(open, { holdBytes: 0, rowForm }));
}

/** Compares an open branch with its ancestor. */
export function compareBranch(
  open: OpenBranch,
  options: Pick<CompareOptions, "holdBytes" | "rowForm">,
): Compared {
  return runBranchWork(compareSides({ ...options, openTrial, reading: "values" }), { ...open });
}

/** The reply where `withBranch` gave null. A removal takes the branch's file first: one that is there has no ancestor for good. */
export function missingBranch(file: TenantFile): Extract<Reply, { t: "missing" }> {
  return exists(file.path) ? { t: "missing", ancestor: true } : { t: "missing" };
}

/** Runs `work` on the ancestor and on one state of the branch; null where the file is no branch's. */
export function withBranch<T>(file: TenantFile, work: (open: OpenBranch) => T): T | null {
  const path = ancestorPath(file.path);
  if (!exists(path)) return null;
  const ancestor = new Connection(path, { readOnly: true });
  const branch = file.reader();
  try {
    branch.internalRun("BEGIN");
    return work({ ancestor, branch });
  } finally {
    if (branch.database.isTransaction) branch.internalRun("ROLLBACK");
    ancestor.close();
  }
}

/** Copies a new branch's state as its ancestor. Nobody else may know the branch yet. */
export function storeAncestor(file: TenantFile): void {
  file.writer();
  const path = ancestorPath(file.path);
  removeDatabase(path);
  copyDatabase(file.path, path);
  const ancestor = new Connection(path);
  try {
    // Nobody writes the ancestor again. A file without a write-ahead log is read without writing anything.
    ancestor.internalRow("PRAGMA journal_mode=DELETE");
  } finally {
    ancestor.close();
  }
}

/** A write-ahead log shorter than this many bytes is not folded in. */
const SHORT_LOG_BYTES = 8 * 1024 * 1024;

/**
 * Folds a long write-ahead log into the file, because it never shrinks and every copy would include it. A log in use
 * stays.
 */
export function foldLog(file: TenantFile): void {
  if (file.keepsLog) return;
  const writer = file.writer();
  if (!exists(`${file.path}-wal`) || Deno.statSync(`${file.path}-wal`).size < SHORT_LOG_BYTES) return;
  foldNow(writer);
}

function ancestorPath(branch: string): string {
  return `${branch.slice(0, -".db".length)}.ancestor.db`;
}
