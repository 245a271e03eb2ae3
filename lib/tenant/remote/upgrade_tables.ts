// Brings the service's own tables of a remote database to the form of this version.
import { isUpToDate, upgradedTableQuery, upgradeStatements } from "../../sql/service_tables.ts";
import { all, ifOk, inTransaction, not } from "./hrana/hrana.ts";
import { type RemoteContext, rowsAt, runOwn } from "./remote_context.ts";
import { stringOf } from "./hrana/remote_values.ts";
import { chain, StepList } from "./hrana/step_list.ts";

/** True when something was to be done. Throws `RemoteFailure`, and `AppError` for what the engine refuses. */
export async function upgradeTables(context: RemoteContext, location: string): Promise<boolean> {
  if (await isCurrent(context, location)) return false;
  const list = new StepList();
  list.add("BEGIN IMMEDIATE");
  for (const sql of upgradeStatements) chain(list, sql);
  const commit = list.add("COMMIT", ifOk(list.steps.length - 1));
  list.add("ROLLBACK", all(not(ifOk(commit)), inTransaction));
  const steps = await runOwn(context, { location, mode: "write" }, list.steps);
  // Another instance may have been faster; then the columns are there.
  if (!steps[commit]?.ok && !await isCurrent(context, location)) rowsAt(steps, commit);
  return true;
}

async function isCurrent(context: RemoteContext, location: string): Promise<boolean> {
  const steps = await runOwn(context, { location, mode: "read" }, [{ stmt: { sql: upgradedTableQuery } }]);
  const [row] = rowsAt(steps, 0);
  return row === undefined || isUpToDate(stringOf(row[0]));
}
