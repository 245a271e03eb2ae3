// Log rows of reads go into their database's table in one transaction, in the write slot.
import { idFloor } from "../../core/ids.ts";
import { pruneStatements } from "../../sql/log_pruning.ts";
import { all, ifOk, inTransaction, not } from "./hrana/hrana.ts";
import { addLogRows } from "./record_steps.ts";
import { rowsAt, runOwn } from "./remote_context.ts";
import { RemoteFailure } from "./hrana/remote_failure.ts";
import type { RemoteTenant } from "./remote_tenant.ts";
import { pause } from "./hrana/pause.ts";
import { MAX_RETRIES, pauseBefore } from "./until_answered.ts";
import { chain, StepList } from "./hrana/step_list.ts";

/** Log rows of one transaction. */
const ROWS_AT_ONCE = 2000;
/** Milliseconds between two prunings of one database's log. */
const PRUNE_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Rows deleted at once, so that no transaction grows long. */
const PRUNED_AT_ONCE = 5000;

/**
 * Writes what waits; rows that could not be written wait on, and it answers false. Never throws: the log is not worth a
 * caller's failure. `once`: a server that does not answer is not asked again, for calls wait behind this one.
 */
export async function flushLog(tenant: RemoteTenant, once: boolean): Promise<boolean> {
  // What comes while these are written waits for company of its own.
  let left = tenant.log.length;
  for (let attempt = once ? MAX_RETRIES : 0; left > 0 || tenant.log.isTooLarge;) {
    const rows = tenant.log.take(Math.min(left, ROWS_AT_ONCE));
    if (rows.length === 0 && !tenant.log.isTooLarge) break;
    const list = new StepList();
    list.add("BEGIN IMMEDIATE");
    addLogRows(list, rows);
    prune(list, tenant);
    const commit = list.add("COMMIT", ifOk(list.steps.length - 1));
    list.add("ROLLBACK", all(not(ifOk(commit)), inTransaction));
    try {
      // Tables of an older version are brought up to date when the schema is read.
      await tenant.schemaGate();
      const { location } = await tenant.located();
      rowsAt(await runOwn(tenant.context, { location, mode: "write" }, list.steps), commit);
      left -= rows.length;
    } catch (error) {
      // The rows have ids: those that were written after all are not written twice.
      tenant.log.putBack(rows);
      try {
        if (!(error instanceof RemoteFailure)) throw error;
        await pause(await pauseBefore(tenant, error, attempt++));
      } catch {
        tenant.context.log("warn", "log_rows_not_written", { rows: rows.length });
        return false;
      }
    }
  }
  return true;
}

function prune(list: StepList, tenant: RemoteTenant): void {
  const { clock, logDays, logBytes } = tenant.context;
  const nowMs = clock.now();
  const isDue = clock.monotonicMs() - tenant.prunedMs >= PRUNE_MS;
  const cuts = tenant.log.takeCuts();
  const beforeId = isDue ? idFloor("qry", nowMs - logDays * DAY_MS) : null;
  const maxBytes = isDue ? logBytes / 2 : null;
  for (const [sql, params] of pruneStatements({ beforeId, cuts, maxBytes, nowMs })) chain(list, sql, params);
  if (!isDue) return;
  tenant.prunedMs = clock.monotonicMs();
  // Ids rise with time: those whose time is over come first.
  chain(
    list,
    "DELETE FROM _service_meta_replay WHERE id IN (SELECT id FROM (SELECT id, expires_at FROM _service_meta_replay " +
      "ORDER BY id LIMIT ?) WHERE expires_at <= ?)",
    [PRUNED_AT_ONCE, nowMs],
  );
}
