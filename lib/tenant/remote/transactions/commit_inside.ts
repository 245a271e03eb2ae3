// Commits a transaction over several requests: its log rows and audit rows with it, in one request that goes out once.
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import type { TransactionRecords } from "../../log/transaction_records.ts";
import { findCommitted } from "../calls/find_committed.ts";
import { Stopped } from "../hrana/deadline.ts";
import { all, ifOk, not, type StepResult } from "../hrana/hrana.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";
import { stepFailure } from "../hrana/step_failure.ts";
import { chain, StepList } from "../hrana/step_list.ts";
import { addLogRows } from "../calls/record_steps.ts";
import type { RemoteConnection } from "../connection/remote_connection.ts";
import type { TransactionStream } from "./transaction_stream.ts";

/** How it ended. */
export type CommitEnd =
  | { readonly k: "committed" }
  /** The engine has refused it; a broken reference leaves the transaction open. */
  | { readonly k: "failed"; readonly failure: EngineFailure }
  /** The transaction was over before. */
  | { readonly k: "gone" }
  /** There was no answer, and whether it was made could not be found out. */
  | { readonly k: "unknown" };

/** Commits what the stream holds. */
export async function commitInside(
  connection: RemoteConnection,
  stream: TransactionStream,
  { logRows, auditRows, change, firstId }: TransactionRecords,
): Promise<CommitEnd> {
  const list = new StepList();
  const records = stream.closeInto(list);
  addLogRows(list, logRows);
  for (const row of auditRows) {
    chain(list, "INSERT INTO _service_meta_audit VALUES (?,?,?,?,?,?,?,?)", row);
  }
  if (change.insert !== null) chain(list, ...change.insert);
  const commit = list.add("COMMIT", ifOk(list.steps.length - 1));
  const refused = all(not(ifOk(commit)), ifOk(records));
  for (const sql of ["ROLLBACK TO records", "RELEASE records"]) list.add(sql, refused);
  let steps: readonly StepResult[];
  try {
    steps = await stream.send(list.steps);
  } catch (error) {
    if (!(error instanceof RemoteFailure) && !(error instanceof Stopped)) throw error;
    return await askWhether(connection, firstId);
  }
  if (steps[commit]?.ok) return { k: "committed" };
  const failed = steps.slice(records, commit + 1).find((step) => step?.ok === false);
  return failed?.ok === false ? { k: "failed", failure: stepFailure(failed) } : { k: "gone" };
}

/** The answer was lost: the first log row in the database says whether the commit was made. */
async function askWhether(connection: RemoteConnection, firstId: string | null): Promise<CommitEnd> {
  const found = await findCommitted(connection, firstId === null ? [] : [firstId]);
  if (found === null) return { k: "unknown" };
  return { k: found.size > 0 ? "committed" : "gone" };
}
