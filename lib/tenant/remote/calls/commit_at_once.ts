// A lone INSERT of one row in one request: the statement, what is recorded of it, and the commit. Its log row is written
// before its figures are known, so the request itself checks that it changed one row, and commits nothing otherwise; the
// time that it took follows with the next rows of the log. It goes out once, as every commit does.
import { newId } from "../../../core/ids.ts";
import { type CallRun, CallRunner, endedRun } from "../../calls/call_run.ts";
import { nothingBeside, textBefore, textBehind } from "../../calls/counted_rows.ts";
import type { CallEnd, Group, GroupEnd } from "./commit_group.ts";
import { undo } from "./undo.ts";
import type { SchemaGate } from "../gate/schema_gate.ts";
import { withDeadline } from "../hrana/deadline.ts";
import { all, type BatchAnswer, type HranaStep, ifError, ifOk, inTransaction, not } from "../hrana/hrana.ts";
import { NOTHING_RAN, RemoteFailure } from "../hrana/remote_failure.ts";
import { hranaValue, integerOf } from "../hrana/remote_values.ts";
import { stepFailure } from "../hrana/step_failure.ts";
import { StepList } from "../hrana/step_list.ts";
import type { PooledStream } from "../hrana/stream_pool.ts";
import { fitsMessage } from "../hrana/stream_sockets.ts";
import { StepReader } from "./read_steps.ts";
import { addRecords, BEGIN } from "./record_steps.ts";
import { OWN_TIMEOUT_MS, rowsAt } from "../server/remote_context.ts";
import { errorAt, type GatedCall, VERSION } from "../connection/write_steps.ts";

/** Answers with the number of rows that the statement before has changed; fails unless it was one, under the schema of that version. */
const CHANGED_ONE =
  "SELECT changes(), CASE WHEN changes() <> 1 OR schema_version <> ? THEN abs(-9223372036854775808) END " +
  "FROM pragma_schema_version";

/** Where the answers stand. */
interface Plan {
  readonly steps: readonly HranaStep[];
  readonly begin: number;
  readonly insert: number;
  readonly changed: number;
  /** Answers with the schema version where `changed` has failed. */
  readonly version: number;
  readonly commit: number;
}

/**
 * Null: nothing was committed, and the group has to be run in two requests. Throws `RemoteFailure`; nothing was committed
 * then.
 */
export async function commitAtOnce(group: Group): Promise<GroupEnd | null> {
  const [gated] = group.calls;
  const { connection, schemaGate } = group;
  if (!gated || group.calls.length > 1 || !insertsOneRow(gated, schemaGate)) return null;
  return await connection.onStream("write", async (stream) => {
    // Only of a socket it is known that nothing sends a request again.
    if (stream === null || !connection.context.sockets?.isOpen(stream.baton)) return null;
    const expected = expectedRun(gated);
    const plan = planOf(group, gated, expected);
    if (!fitsMessage(plan.steps)) return null;
    const answer = await sendOnce(group, stream, plan);
    if (answer === null) return { k: "lost", ends: [endOf(expected)], mayComeLate: true };
    return readEnd(group, { gated, plan, stream }, answer);
  });
}

/**
 * Whether the call is an INSERT of which nothing has to be known but that it has changed one row: without the rows that the
 * engine has changed beside it or has found on its way, and without a result, so that what is known is also its answer.
 */
function insertsOneRow({ call, gate }: GatedCall, schemaGate: SchemaGate): boolean {
  const [statement] = call.statements;
  if (!statement || call.statements.length > 1 || gate.failure !== null || call.level !== "write") {
    return false;
  }
  const { sql, after = [] } = statement;
  const isPlain = call.log !== null && call.auditTables !== null && call.replay === null &&
    call.snapshot === null && call.failsWith === null && call.affected === null && !call.dryRun &&
    !call.footprint && !call.migration && !call.paramSets && !call.foreignKeysOff && !call.rowForm.typed;
  return isPlain && after.length === 0 && textBefore(statement) === null && textBehind(statement) === null &&
    !schemaGate.changesBeside && !schemaGate.doesMore(sql) && /^\s*INSERT\s+INTO\s/i.test(sql) &&
    !/\b(RETURNING|CONFLICT|SELECT|REPLACE)\b/i.test(sql);
}

function expectedRun({ call }: GatedCall): CallRun {
  const runner = new CallRunner(call);
  const figures = { rowsRead: 0, ms: 0, changes: 1, ownRows: 0 };
  runner.add({ json: '{"columns":[],"rows":[]', failure: null, figures, beside: nothingBeside });
  return endedRun(runner.run(null), call);
}

function endOf(run: CallRun): CallEnd {
  return { k: "ran", run, nothingStays: false };
}

function planOf({ connection, schemaGate, logRows }: Group, { call }: GatedCall, run: CallRun): Plan {
  const list = new StepList();
  const begin = list.add(BEGIN);
  const { sql = "", params = [] } = call.statements[0] ?? {};
  const insert = list.add(sql, ifOk(begin), params.map(hranaValue));
  const args = [hranaValue(schemaGate.schema.engineVersion)];
  const changed = list.add(CHANGED_ONE, all(ifOk(insert), inTransaction), args);
  const auditId = newId("evt", connection.context.clock.now());
  const calls = [{ call, run, auditId }];
  addRecords(list, { calls, joined: [], waitingRows: logRows, ownRows: "INSERT" });
  // A server that takes the transaction away between two steps would commit each of these by itself.
  for (const [at, { stmt }] of list.steps.entries()) {
    if (at > changed) list.steps[at] = { stmt, condition: all(ifOk(at - 1), inTransaction) };
  }
  const commit = list.add("COMMIT", all(ifOk(list.steps.length - 1), inTransaction));
  const version = list.add(VERSION, all(ifError(changed), inTransaction));
  list.add("ROLLBACK", all(not(ifOk(commit)), inTransaction));
  return { steps: list.steps, begin, insert, changed, version, commit };
}

/** Null: whether it was committed has to be looked up. Throws `RemoteFailure`; nothing ran then. */
async function sendOnce(
  { connection, timeoutMs }: Group,
  stream: PooledStream,
  { steps }: Plan,
): Promise<BatchAnswer | null> {
  const { baton } = stream;
  stream.baton = null;
  try {
    return await withDeadline(
      Math.min(timeoutMs, OWN_TIMEOUT_MS),
      [],
      (signal) => connection.send("write", { steps, baton, close: false }, { signal, once: true }),
    );
  } catch (error) {
    if (error instanceof RemoteFailure && NOTHING_RAN.includes(error.reason)) throw error;
    return null;
  }
}

interface Sent {
  readonly gated: GatedCall;
  readonly plan: Plan;
  readonly stream: PooledStream;
}

function readEnd(group: Group, { gated, plan, stream }: Sent, answer: BatchAnswer): GroupEnd | null {
  const { steps } = answer;
  const { schemaGate } = group;
  const { call, gate } = gated;
  // The last step is the one that gives a transaction up.
  if (errorAt(steps, steps.length - 1) === null) stream.baton = answer.baton;
  else void undo(group.connection, answer.baton);
  const begun = errorAt(steps, plan.begin);
  if (begun) return { k: "refused", failure: stepFailure(begun) };
  const sql = call.statements[0]?.sql ?? "";
  const refused = errorAt(steps, plan.commit);
  if (refused?.code.startsWith("TRANSACTION_TIMEOUT")) {
    return { k: "lost", ends: [endOf(expectedRun(gated))], mayComeLate: true };
  }
  if (refused) return { k: "refused", failure: stepFailure(refused) };
  if (errorAt(steps, plan.changed)) {
    const engineVersion = integerOf(rowsAt(steps, plan.version)[0]?.[0]);
    if (engineVersion !== schemaGate.schema.engineVersion) return { k: "stale", engineVersion };
    schemaGate.noteMore(sql);
  }
  if (!steps[plan.commit]?.ok) return null;
  const reader = new StepReader(call, 0);
  reader.add(0, steps[plan.insert] ?? null, steps[plan.changed] ?? null);
  const run = reader.finish(gate);
  if (run.rowsRead > 0) schemaGate.noteMore(sql);
  return { k: "committed", ends: [endOf(run)] };
}
