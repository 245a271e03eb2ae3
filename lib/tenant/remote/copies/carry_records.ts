// What the copy of a database tells of the past: rows about what happened, which a restore does not undo, calls that have
// been answered, which must not run again, and the restore itself.
import { roundMs } from "../../../core/clock.ts";
import { newId } from "../../../core/ids.ts";
import { isReservedName, ownTablesQuery } from "../../../sql/words/service_tables.ts";
import type { Restored } from "../../damage.ts";
import type { ReplayKeys } from "../../stored_answer.ts";
import type { LogIdentity } from "../../tenant_store.ts";
import { BEGIN, commitSteps } from "../calls/record_steps.ts";
import { carriedAbove, CHRONICLES, newestTimeQuery } from "../../../sql/service/chronicles.ts";
import { carriedReplays } from "../../../sql/service/replay_rows.ts";
import type { HranaStep, HranaValue } from "../hrana/hrana.ts";
import { type RemoteContext, rowsAt, runOwn } from "../server/remote_context.ts";
import { hranaValue, integerOf, stringOf } from "../hrana/remote_values.ts";
import { chain, ownTransaction } from "../hrana/step_list.ts";
import { upgradeTables } from "../connection/read_schema.ts";

/** Rows carried in one request. */
const CARRIED_AT_ONCE = 500;

/** Copies what `to` has not. `from` takes no writes any more. Throws `RemoteFailure`. */
export async function carryRecords(
  context: RemoteContext,
  { from, to, nowMs }: { readonly from: string; readonly to: string; readonly nowMs: number },
): Promise<void> {
  await upgradeTables(context, to);
  // Any transaction that was under way there has ended when this lock is given.
  await runOwn(context, { location: from, mode: "write" }, [
    { stmt: { sql: "BEGIN IMMEDIATE" } },
    { stmt: { sql: "ROLLBACK" } },
  ]);
  for (const table of CHRONICLES) {
    const [newest] = await rowsOf(context, to, newestTimeQuery(table), []);
    let last = carriedAbove(table, newest ? integerOf(newest[0]) : null);
    for (;;) {
      const sql = `SELECT * FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`;
      const some = await rowsOf(context, from, sql, [hranaValue(last), hranaValue(CARRIED_AT_ONCE)]);
      if (some.length === 0) break;
      await insertRows(context, to, table, some);
      last = stringOf(some.at(-1)?.[0]);
    }
  }
  // The present knows all answers that are still good, those of the snapshot among them.
  await own(context, to, `DELETE FROM _service_meta_replay WHERE ${carriedReplays}`, []);
  const unexpired =
    `SELECT id FROM _service_meta_replay WHERE expires_at > ? AND ${carriedReplays} ORDER BY id`;
  for (const id of await rowsOf(context, from, unexpired, [hranaValue(nowMs)])) {
    const sql = "SELECT * FROM _service_meta_replay WHERE id = ?";
    const rows = await rowsOf(context, from, sql, id);
    // With an id of its own, since the snapshot may have that of another answer, which stays.
    const anew = rows.map(([, ...row]) => [hranaValue(null), ...row]);
    await insertRows(context, to, "_service_meta_replay", anew);
  }
}

/** Deletes from a copy the records of its source's past. Throws `RemoteFailure`. */
export async function forgetRecords(context: RemoteContext, location: string): Promise<void> {
  await upgradeTables(context, location);
  const { steps, commit } = ownTransaction((list) => {
    for (const table of [...CHRONICLES, "_service_meta_replay", "_service_meta_change"]) {
      chain(list, `DELETE FROM ${table}`);
    }
  });
  rowsAt(await runOwn(context, { location, mode: "write" }, steps), commit);
}

async function rowsOf(context: RemoteContext, location: string, sql: string, args: readonly HranaValue[]) {
  return rowsAt(await runOwn(context, { location, mode: "read" }, [{ stmt: { sql, args } }]), 0);
}

/** The present may have been left by an older version, whose tables have fewer columns. */
async function insertRows(
  context: RemoteContext,
  location: string,
  table: string,
  rows: readonly (readonly HranaValue[])[],
): Promise<void> {
  const values = rows.map((row) => `(${row.map(() => "?").join(",")})`).join(",");
  const info = "SELECT name FROM pragma_table_info(?) ORDER BY cid";
  const names = await rowsOf(context, location, info, [hranaValue(table)]);
  const columns = names.slice(0, rows[0]?.length ?? 0).map(([name]) => stringOf(name)).join(",");
  const sql = `INSERT OR REPLACE INTO ${table} (${columns}) VALUES ${values}`;
  await own(context, location, sql, rows.flat());
}

async function own(
  context: RemoteContext,
  location: string,
  sql: string,
  args: readonly HranaValue[],
): Promise<void> {
  const step: HranaStep = { stmt: { sql, args } };
  rowsAt(await runOwn(context, { location, mode: "write" }, [step]), 0);
}

export interface RestoreToRecord {
  readonly log: LogIdentity;
  /** Of an imported file. Absent: 0. */
  readonly rowsWritten?: number | undefined;
  /** What it has done, and the keys under which that is stored. Absent: under none. */
  readonly answer?: { readonly replay: ReplayKeys; readonly restored: Restored };
  readonly location: string;
  /** Locations whose tables it has replaced, dropped or brought back. */
  readonly tablesOf: readonly string[];
  /** By the monotonic clock. */
  readonly startedMs: number;
}

/** Writes the rows of a restore into the log and audit trail, and its stored answer. Throws `RemoteFailure`. */
export async function recordRestore(
  context: RemoteContext,
  { log, rowsWritten = 0, answer, location, tablesOf, startedMs }: RestoreToRecord,
): Promise<void> {
  const names = new Set<string>();
  for (const one of tablesOf) {
    const read = await runOwn(context, { location: one, mode: "read" }, [{ stmt: { sql: ownTablesQuery } }]);
    for (const row of rowsAt(read, 0)) names.add(stringOf(row[0]));
  }
  const auditTables = [...names].filter((name) => !isReservedName(name)).sort();
  const ms = roundMs(context.clock.monotonicMs() - startedMs);
  const results = answer ? [{ json: JSON.stringify(answer.restored), rowsRead: 0, rowsWritten: 0 }] : [];
  const { steps, commit } = commitSteps(
    [BEGIN],
    [{
      call: { log, replay: answer?.replay ?? null, failsWith: null, auditTables },
      run: { results, rowsRead: 0, rowsWritten, ms, failure: null },
      auditId: newId("evt", context.clock.now()),
    }],
    [],
    [],
  );
  rowsAt(await runOwn(context, { location, mode: "write" }, steps), commit);
}
