// The second of a write group's two requests: what is recorded of each call, and the commit. All of it is in the
// transaction of the calls, so that a change, its log and audit rows and its stored answer are there together or not at all.
import { roundMs } from "../../../core/clock.ts";
import { changeThatStays, recordsOf } from "../../call_records.ts";
import { LOG_COLUMNS, logRow, type LogValues } from "../../log_columns.ts";
import type { ReplayKeys } from "../../stored_answer.ts";
import type { TenantCall } from "../../tenant_store.ts";
import { REPLACE_COUNTED } from "../../../sql/words/service_tables.ts";
import { type CallChange, CommitChange } from "../../../sql/service/change_rows.ts";
import type { CallRun } from "../../calls/call_run.ts";
import { all, type HranaStep, ifOk, inTransaction, not } from "../hrana/hrana.ts";
import { joinKeys, storeAnswer } from "../connection/replay_statements.ts";
import { chain, StepList } from "../hrana/step_list.ts";
import { VERSION } from "../connection/write_steps.ts";

export const BEGIN = "BEGIN IMMEDIATE";

/** Up to so many log rows each has a statement of its own, which costs the server no more than taking JSON apart. */
const FEW_ROWS = 4;
/** Characters of log rows in one statement: a value has at most 5 MB in sqld. */
const PIECE_LENGTH = 1_000_000;

export interface FinishedCall {
  readonly call:
    & Pick<TenantCall, "log" | "replay" | "failsWith" | "auditTables">
    & Partial<Pick<TenantCall, "affected" | "changeKinds" | "changeSteps" | "stoppedMs">>
    /** What followers are told, where that is not what the audit row has. */
    & { readonly changed?: Pick<CallChange, "tables" | "kinds"> };
  readonly run:
    & Pick<CallRun, "results" | "rowsRead" | "rowsWritten" | "ms" | "failure">
    & Partial<Pick<CallRun, "work" | "rows">>;
  /** Id of its audit row. */
  readonly auditId: string;
}

/** A repeated call that came with keys under which its answer is not stored yet. */
export interface JoinedReplay {
  readonly replay: ReplayKeys;
  readonly matched: readonly number[];
}

export interface CommitSteps {
  readonly steps: readonly HranaStep[];
  readonly commit: number;
  readonly version: number;
}

/** `before`: what ends the open savepoints; or `BEGIN`, where no transaction is open yet. */
export function commitSteps(
  before: readonly string[],
  calls: readonly FinishedCall[],
  joined: readonly JoinedReplay[],
  waitingRows: readonly LogValues[],
): CommitSteps {
  const list = new StepList();
  for (const sql of before) chain(list, sql);
  addRecords(list, { calls, joined, waitingRows, ownRows: "INSERT OR REPLACE" });
  const last = list.steps.length - 1;
  const commit = list.add("COMMIT", last < 0 ? null : ifOk(last));
  const version = list.add(VERSION, ifOk(commit));
  const [first] = list.steps;
  // Outside of the transaction whose commit this is, its log rows would be committed without what they tell of.
  if (first && first.stmt.sql !== BEGIN) list.steps[0] = { ...first, condition: inTransaction };
  list.add("ROLLBACK", all(not(ifOk(commit)), inTransaction));
  return { steps: list.steps, commit, version };
}

/** What is recorded in a transaction. */
export interface Records {
  readonly calls: readonly FinishedCall[];
  readonly joined: readonly JoinedReplay[];
  readonly waitingRows: readonly LogValues[];
  /**
   * How the calls' log rows are written. A transaction that may come too late must fail where its row's id is taken
   * (`findCommitted`), and the one that runs in its place takes it back.
   */
  readonly ownRows: "INSERT" | "INSERT OR REPLACE";
}

/** Each step on condition of the one before. */
export function addRecords(list: StepList, { calls, joined, waitingRows, ownRows }: Records): void {
  const change = new CommitChange();
  for (const finished of calls) recordCall(list, finished, { change, ownRows });
  if (change.insert !== null) chain(list, ...change.insert);
  for (const { replay, matched } of joined) joinKeys(list, replay, matched);
  addLogRows(list, waitingRows);
}

/** Inserts rows that wait, in few statements: those of the query log, and the shorter ones of endpoint calls. */
export function addLogRows(list: StepList, rows: readonly LogValues[]): void {
  const isCall = (row: LogValues) => row.length !== LOG_COLUMNS;
  insertRows(list, ["INSERT OR IGNORE INTO _service_meta_query_log", ""], rows.filter((row) => !isCall(row)));
  insertRows(list, ["INSERT INTO _service_meta_endpoint_call", REPLACE_COUNTED], rows.filter(isCall));
}

/** Many rows are one parameter: thousands of parameters would cost the server more than the rows do. */
function insertRows(
  list: StepList,
  [insert, end]: readonly [insert: string, end: string],
  rows: readonly LogValues[],
): void {
  if (rows.length <= FEW_ROWS) {
    for (const row of rows) {
      chain(list, `${insert} VALUES (${row.map(() => "?").join(",")}) ${end}`, row);
    }
    return;
  }
  const columns = (rows[0] ?? []).map((_, at) => `value->>${at}`).join(",");
  for (const text of jsonPieces(rows)) {
    // The WHERE tells the grammar that no join follows.
    chain(list, `${insert} SELECT ${columns} FROM json_each(?) WHERE true ${end}`, [text]);
  }
}

/** JSON arrays of rows, none of them much longer than a piece may be. */
function jsonPieces(rows: readonly LogValues[]): string[] {
  const pieces: string[] = [];
  let texts: string[] = [];
  let length = 0;
  for (const row of rows) {
    const text = JSON.stringify(row);
    texts.push(text);
    length += text.length;
    if (length < PIECE_LENGTH) continue;
    pieces.push(`[${texts.join(",")}]`);
    [texts, length] = [[], 0];
  }
  return texts.length === 0 ? pieces : [...pieces, `[${texts.join(",")}]`];
}

function recordCall(
  list: StepList,
  { call, run, auditId }: FinishedCall,
  { change, ownRows }: Pick<Records, "ownRows"> & { readonly change: CommitChange },
): void {
  const { log, replay, auditTables } = call;
  const failure = run.failure?.failure;
  const results = run.results.length;
  const records = recordsOf(call, failure, results);
  if (replay && records.answer) storeAnswer(list, replay, run);
  if (log === null || records.log === null) return;
  const { errorKind } = records.log;
  const { rowsRead, rowsWritten } = run.failure ? run.work ?? run : run;
  const row = logRow({
    ...log,
    status: errorKind === null ? "ok" : "error",
    errorKind,
    rowsRead,
    rowsWritten,
    durationMs: roundMs(run.ms + (call.stoppedMs ?? 0)),
  });
  insertRows(list, [`${ownRows} INTO _service_meta_query_log`, ""], [row]);
  if (auditTables === null || !records.audit) return;
  const all = { tables: JSON.stringify(auditTables), kinds: call.changeKinds ?? 0 };
  const stays = changeThatStays(call, all, { failure, results });
  if (stays === null) return;
  chain(list, "INSERT INTO _service_meta_audit VALUES (?,?,?,?,?,?,?,?)", [
    auditId,
    log.ts,
    log.tokenId,
    log.userId,
    log.operation,
    stays.tables,
    run.rowsWritten,
    log.id,
  ]);
  change.add({ ...(call.changed ?? stays), rows: run.rowsWritten, at: log.ts });
}
