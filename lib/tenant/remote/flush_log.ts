// Log rows of reads go into their database's table in one transaction, in the write slot.
import { idFloor } from "../../core/ids.ts";
import { all, ifOk, inTransaction, not } from "./hrana.ts";
import { addLogRows } from "./record_steps.ts";
import { rowsAt, runOwn } from "./remote_context.ts";
import { RemoteFailure } from "./remote_failure.ts";
import type { RemoteTenant } from "./remote_tenant.ts";
import { MAX_RETRIES, retryable } from "./retryable.ts";
import { chain, StepList } from "./step_list.ts";

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
  let left = tenant.logRows.length;
  for (let attempt = once ? MAX_RETRIES : 0; left > 0;) {
    const rows = tenant.takeLogRows(Math.min(left, ROWS_AT_ONCE));
    if (rows.length === 0) break;
    const list = new StepList();
    list.add("BEGIN IMMEDIATE");
    addLogRows(list, rows);
    prune(list, tenant);
    const commit = list.add("COMMIT", ifOk(list.steps.length - 1));
    list.add("ROLLBACK", all(not(ifOk(commit)), inTransaction));
    try {
      const { place } = await tenant.place();
      rowsAt(await runOwn(tenant.context, { place, mode: "write" }, list.steps), commit);
      left -= rows.length;
    } catch (error) {
      // The rows have ids: those that were written after all are not written twice.
      tenant.addLogRows(rows);
      try {
        if (!(error instanceof RemoteFailure)) throw error;
        await retryable(tenant, error, attempt++);
      } catch {
        tenant.context.log("warn", "log_rows_not_written", { rows: rows.length });
        return false;
      }
    }
  }
  return true;
}

function prune(list: StepList, tenant: RemoteTenant): void {
  const nowMs = tenant.context.clock.now();
  if (nowMs - tenant.prunedMs < PRUNE_MS) return;
  tenant.prunedMs = nowMs;
  const oldestMs = nowMs - tenant.context.logDays * DAY_MS;
  for (
    const [table, prefix] of [
      ["_service_meta_query_log", "qry"],
      ["_service_meta_audit", "evt"],
      ["_service_meta_endpoint_call", "evt"],
    ] as const
  ) {
    chain(
      list,
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE id < ? ORDER BY id LIMIT ?)`,
      [
        idFloor(prefix, oldestMs),
        PRUNED_AT_ONCE,
      ],
    );
  }
  // Ids rise with time: those whose time is over come first.
  chain(
    list,
    "DELETE FROM _service_meta_replay WHERE id IN (SELECT id FROM (SELECT id, expires_at FROM _service_meta_replay " +
      "ORDER BY id LIMIT ?) WHERE expires_at <= ?)",
    [PRUNED_AT_ONCE, nowMs],
  );
}
