// Runs a group of writing calls as one transaction: one request that runs them, one that records them and commits. Until
// the second one is sent nothing can have been committed, so whatever happens before it may safely be done again.
import { newId } from "../../../core/ids.ts";
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import type { ReplayFound, TenantOutcome } from "../../tenant_store.ts";
import { type CallRun, committedRun, isUndone, outcomeOf } from "../../calls/call_run.ts";
import { type BatchAnswer, losesInfinity, type StepResult } from "../hrana/hrana.ts";
import type { SendForm } from "../hrana/hrana_client.ts";
import { BEGIN, commitSteps, type FinishedCall } from "./record_steps.ts";
import type { LogValues } from "../../log_columns.ts";
import type { PooledStream } from "../hrana/stream_pool.ts";
import { fitsMessage } from "../hrana/stream_sockets.ts";
import { StepReader } from "./read_steps.ts";
import { sendCommit } from "./send_commit.ts";
import { undo } from "./undo.ts";
import { rowsAt } from "../server/remote_context.ts";
import type { RemoteConnection } from "../connection/remote_connection.ts";
import { integerOf } from "../hrana/remote_values.ts";
import { foundReplay } from "../connection/replay_statements.ts";
import type { SchemaGate } from "../gate/schema_gate.ts";
import { withStatementDeadline } from "../connection/statement_deadline.ts";
import { stepFailure } from "../hrana/step_failure.ts";
import { errorAt, groupSteps } from "../connection/write_steps.ts";
import type { CallSteps, GatedCall, GroupSteps } from "../connection/write_steps.ts";

export interface Group {
  readonly connection: RemoteConnection;
  readonly schemaGate: SchemaGate;
  readonly calls: readonly GatedCall[];
  /** Aborted when nobody waits for a call any more. */
  readonly signals: readonly (AbortSignal | null)[];
  readonly timeoutMs: number;
  /** Log rows to take along. */
  readonly logRows: readonly LogValues[];
  /** The stream that the group runs on, and leaves open for the next one; null: it opens one and closes it. */
  readonly stream?: PooledStream | null;
  /** Rows that each statement of the one call reads by itself: what records a footprint makes it read more. */
  readonly ownReads?: readonly number[] | null;
}

/** What became of one call. */
export type CallEnd = { readonly k: "ran"; readonly run: CallRun; readonly nothingStays: boolean } | {
  readonly k: "replay";
  readonly found: ReplayFound;
};

export type GroupEnd =
  | { readonly k: "committed"; readonly ends: readonly CallEnd[] }
  /** Nothing was committed: the schema is another one. */
  | { readonly k: "stale"; readonly engineVersion: number }
  /** Nothing was committed: the calls have to run apart, or their statements one by one. */
  | { readonly k: "apart" }
  /** Nothing was committed: the engine refused the transaction. */
  | { readonly k: "refused"; readonly failure: EngineFailure }
  /** Nothing was committed: a statement was stopped, or has ended the transaction by itself. */
  | { readonly k: "stopped"; readonly outcome: TenantOutcome }
  /** Whether it was committed has to be looked up. */
  | {
    readonly k: "lost";
    readonly ends: readonly CallEnd[];
    /** The server may not even have begun with it. */
    readonly mayComeLate?: boolean;
  };

/** Throws `RemoteFailure` and `Stopped`; nothing was committed then. */
export async function commitGroup(group: Group): Promise<GroupEnd> {
  // Settings of the connection are not for the calls behind it.
  if (group.calls.some(({ call }) => call.foreignKeysOff)) return await commitOn(group);
  return await group.connection.onStream("write", (stream) => commitOn({ ...group, stream }));
}

async function commitOn(group: Group): Promise<GroupEnd> {
  const plan = groupSteps(group.calls, group.schemaGate);
  let answer = await runSteps(group, plan);
  if (losesInfinity(answer.steps)) {
    await undo(group.connection, answer.baton);
    answer = await runSteps(group, plan, { binary: true });
  }
  return await finishGroup(group, plan, answer);
}

function runSteps(
  { connection, stream = null, timeoutMs, signals: waiting }: Group,
  { steps }: GroupSteps,
  form: SendForm = {},
): Promise<BatchAnswer> {
  return withStatementDeadline(
    connection,
    { timeoutMs, waiting },
    (signal) =>
      stream === null
        ? connection.send("write", { steps, baton: null, close: false }, { ...form, signal })
        : connection.sendFirst(stream, steps, { ...form, signal }),
  );
}

async function finishGroup(group: Group, plan: GroupSteps, answer: BatchAnswer): Promise<GroupEnd> {
  const { steps } = answer;
  const notBegun = endNotBegun(group, plan, answer);
  if (notBegun !== null) return notBegun;
  const alone = group.calls.length === 1;
  const lost = steps[plan.lost]?.ok === true;
  const total = integerOf(rowsAt(steps, plan.guard)[0]?.[0]);
  const read = readEnds(group.calls, plan.calls, steps, total);
  if (lost && !alone || read.some((end, at) => end.k === "ran" && cannotCommit(group, at, end.run))) {
    await undo(group.connection, answer.baton);
    return { k: "apart" };
  }
  const [first] = read;
  const call = group.calls[0]?.call;
  if (alone && call && first?.k === "ran") {
    const undone = isUndone(first.run.failure, call);
    if (lost && !undone) {
      await undo(group.connection, answer.baton);
      return { k: "stopped", outcome: outcomeOf({ ...first.run, results: [] }) };
    }
    const before = lost ? [BEGIN] : [...(undone ? ["ROLLBACK TO call"] : []), "RELEASE call"];
    const nothingStays = lost || undone;
    const ends = [{ k: "ran", run: committedRun(first.run, nothingStays), nothingStays }] as const;
    return await recordGroup(group, { baton: answer.baton, before }, ends);
  }
  return await recordGroup(group, { baton: answer.baton, before: [] }, read);
}

/** The end of a group whose transaction was refused or met another schema, which is undone; null: it has begun. */
export function endNotBegun(group: Group, plan: GroupSteps, answer: BatchAnswer): GroupEnd | null {
  const begun = errorAt(answer.steps, plan.begin);
  if (begun) return { k: "refused", failure: stepFailure(begun) };
  if (!errorAt(answer.steps, plan.guard)) return null;
  void undo(group.connection, answer.baton);
  return { k: "stale", engineVersion: integerOf(rowsAt(answer.steps, plan.version)[0]?.[0]) };
}

/** A result that is too large is seen only here, when its savepoint is closed already; a call that is alone and
 * atomic can still be undone. */
function cannotCommit({ calls }: Group, at: number, run: CallRun): boolean {
  const call = calls[at]?.call;
  if (!run.tooLarge || !call) return false;
  return calls.length > 1 || (!call.atomic && call.statements.length > 1);
}

/** What the calls of a group did. Conditions of the batch have undone an atomic call that failed. */
function readEnds(
  calls: readonly GatedCall[],
  own: readonly CallSteps[],
  steps: readonly StepResult[],
  firstTotal: number,
): CallEnd[] {
  let total = firstTotal;
  return calls.map(({ call, gate }, at): CallEnd => {
    const where = own[at];
    if (!where) throw new TypeError("a call without steps");
    const found = call.replay && where.replay !== null
      ? foundReplay(call.replay, steps[where.replay] ?? null)
      : null;
    if (found) return { k: "replay", found };
    const reader = new StepReader(call, total);
    for (const [index, statement] of where.statements.entries()) {
      const at = (step: number | null) => step === null ? null : steps[step] ?? null;
      const [before, behind] = statement.counts;
      const then = at(statement.then);
      const around = { counts: [at(before), at(behind)], base: at(statement.base), then } as const;
      reader.add(index, steps[statement.run] ?? null, steps[statement.total] ?? null, around);
      const counted = then ?? steps[statement.total];
      if (counted?.ok) total = integerOf(counted.rows[0]?.[0]);
    }
    const run = reader.finish(gate);
    const nothingStays = isUndone(run.failure, call);
    return { k: "ran", run: committedRun(run, nothingStays), nothingStays };
  });
}

/** Sends the second request: what is recorded of each call, and the commit. */
export async function recordGroup(
  { connection, calls, logRows, stream = null }: Group,
  { baton, before }: { readonly baton: string | null; readonly before: readonly string[] },
  ends: readonly CallEnd[],
): Promise<GroupEnd> {
  const nowMs = connection.context.clock.now();
  const finished = ends.flatMap((end, at): FinishedCall[] => {
    const call = calls[at]?.call;
    return end.k === "ran" && call ? [{ call, run: end.run, auditId: newId("evt", nowMs) }] : [];
  });
  const joined = ends.flatMap((end, at) => {
    const replay = calls[at]?.call.replay;
    return replay && end.k === "replay" && end.found.ok === "replayed"
      ? [{ replay, matched: end.found.matched }]
      : [];
  });
  const commit = commitSteps(before, finished, joined, logRows);
  if (connection.context.sockets?.carries(baton) && !fitsMessage(commit.steps)) {
    // One by one they run on a stream by HTTP.
    await undo(connection, baton);
    return { k: "apart" };
  }
  const end = await sendCommit(connection, commit, { baton, stream });
  return end.k === "refused" ? end : { ...end, ends };
}
