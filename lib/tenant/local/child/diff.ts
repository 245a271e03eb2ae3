// What a branch has changed since it was made: its file beside the one of its ancestor.
import type { RowForm } from "../../../sql/row_form.ts";
import { type Compared, type CompareOptions, compareSides } from "../../branches/compare_sides.ts";
import { ancestorPath } from "./ancestor.ts";
import { openTrial, runBranchWork } from "./branch_work.ts";
import { Connection } from "../../../engine/connection.ts";
import type { TenantFile } from "./tenant_file.ts";

/** A branch's connections, the branch in one state. */
export interface OpenBranch {
  readonly ancestor: Connection;
  readonly branch: Connection;
}

/** Null when the branch has no ancestor: it is no branch. */
export function diffBranch(file: TenantFile, rowForm: RowForm): Compared | null {
  return withBranch(file, (open) => compareBranch(open, { holdBytes: 0, rowForm }));
}

/** Compares a branch with its ancestor. */
export function compareBranch(
  open: OpenBranch,
  options: Pick<CompareOptions, "holdBytes" | "rowForm">,
): Compared {
  return runBranchWork(compareSides({ ...options, openTrial, byLine: false }), { ...open });
}

/** Runs `work` on the ancestor and on one state of the branch. Null when the file is no branch's. */
export function withBranch<T>(file: TenantFile, work: (open: OpenBranch) => T): T | null {
  const path = ancestorPath(file.path);
  if (path === null) return null;
  const ancestor = new Connection(path, true);
  const branch = file.reader();
  try {
    branch.internalRun("BEGIN");
    return work({ ancestor, branch });
  } finally {
    if (branch.database.isTransaction) branch.internalRun("ROLLBACK");
    ancestor.close();
  }
}
