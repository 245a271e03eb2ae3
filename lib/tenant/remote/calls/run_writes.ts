// Answers each call of a group that writes: tries the quick way first, then the careful way, and tries again where the
// database has moved or nothing can have been committed. What may have been is looked up, never repeated.
import { runsOf } from "../../../sql/words/param_sets.ts";
import { AppError } from "../../../core/errors.ts";
import { failedOutcome, outcomeOf, timedOut } from "../../calls/call_run.ts";
import { commitAtOnce } from "./commit_at_once.ts";
import { type CallEnd, commitGroup, type Group, type GroupEnd } from "./commit_group.ts";
import { Stopped } from "../hrana/deadline.ts";
import { type CallJob, runsApart } from "./write_call.ts";
import { dryRun, ownReads } from "./remote_dry_run.ts";
import { findCommitted } from "./find_committed.ts";
import type { TenantLog } from "./tenant_log.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";
import type { RemoteConnection } from "../connection/remote_connection.ts";
import { commitStepByStep, statementFailure } from "./step_by_step.ts";
import type { GatedCall } from "../connection/write_steps.ts";
import { pauseBefore, retryOpenUntil } from "../connection/until_answered.ts";
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import type { TenantOutcome } from "../../tenant_store.ts";
import { endedAfter, whatStays } from "../../what_stays.ts";
import { pause } from "../../../core/pause.ts";

export interface WriteRun {
  readonly connection: RemoteConnection;
  readonly log: Pick<TenantLog, "takeForGroup" | "putBack" | "addEnd" | "complete">;
  readonly findReplay: (job: CallJob) => Promise<boolean>;
}

/** Answers every job. Throws `AppError` for those that are not answered yet. */
export async function runWrites(
  run: WriteRun,
  jobs: readonly CallJob[],
  { careful = false } = {},
): Promise<void> {
  let left = jobs;
  const untilMs = retryOpenUntil(run.connection);
  for (let attempt = 0; left.length > 0; attempt++) {
    const { group, ready } = await gather(run, left.filter(isWaitedFor));
    if (ready.length === 0) return;
    const next = await runOnce(run, { group, ready, careful, attempt, untilMs });
    if (next.apart) return await runApart(run, next.left);
    left = next.left;
  }
}

interface Round {
  readonly group: Group;
  readonly ready: readonly CallJob[];
  readonly careful: boolean;
  readonly attempt: number;
  /** Until when it may be tried again where the server does not answer, by the monotonic clock. */
  readonly untilMs: number;
}

/** What is still to be answered: together, or `apart`. */
interface Next {
  readonly left: readonly CallJob[];
  readonly apart: boolean;
}

const answered: Next = { left: [], apart: false };

async function runOnce(run: WriteRun, round: Round): Promise<Next> {
  const { group, ready, careful } = round;
  if (!careful && ready.some(({ call }) => runsApart(call, group.schemaGate))) {
    run.log.putBack(group.logRows);
    return { left: ready, apart: true };
  }
  let end: GroupEnd;
  try {
    end = careful ? await commitCarefully(group, ready) : await commitQuickly(run, round);
  } catch (error) {
    run.log.putBack(group.logRows);
    return await afterFailure(run, round, error);
  }
  if (end.k !== "committed" && end.k !== "lost") run.log.putBack(group.logRows);
  return await settle(run, round, end);
}

async function commitCarefully(group: Group, [job]: readonly CallJob[]): Promise<GroupEnd> {
  return await commitStepByStep({ ...group, ownReads: job ? await ownReads(group.connection, job) : null });
}

/** A row of the log that was committed before its figures were known gets them later. */
async function commitQuickly({ log }: WriteRun, { group, ready, attempt }: Round): Promise<GroupEnd> {
  const end = attempt === 0 ? await commitAtOnce(group) : null;
  if (end === null) return await commitGroup(group);
  const id = ready[0]?.call.log?.id;
  for (const one of end.k === "committed" ? end.ends : []) {
    if (one.k === "ran" && id !== undefined) log.complete(id, one.run);
  }
  return end;
}

/** Whether somebody waits for the call; one whose caller has gone ends here. */
function isWaitedFor(job: CallJob): boolean {
  if (job.signal?.aborted) job.reject(new AppError("store_unavailable"));
  return !job.signal?.aborted;
}

/** Gathers the calls that were compiled for the present schema, and answers the others. */
async function gather(run: WriteRun, jobs: readonly CallJob[]) {
  const { connection } = run;
  const schemaGate = await connection.schemaGate();
  const ready: CallJob[] = [];
  const calls: GatedCall[] = [];
  for (const job of jobs) {
    if (job.call.schemaVersion !== schemaGate.version) {
      if (!await run.findReplay(job)) job.resolve({ ok: "stale", schemaVersion: schemaGate.version });
      continue;
    }
    ready.push(job);
    calls.push({ call: job.call, gate: await schemaGate.gate(job.call) });
  }
  const bounds = ready.map(({ call }) => call.timeoutMs ?? connection.context.queryTimeoutMs);
  const timeoutMs = Math.min(connection.context.queryTimeoutMs, ...bounds);
  const signals = ready.map((job) => job.signal);
  const logRows = ready.length > 0 ? run.log.takeForGroup() : [];
  const group: Group = { connection, schemaGate, calls, signals, timeoutMs, logRows };
  return { group, ready };
}

/** Answers the calls whose end is known; the others are left. */
async function settle(
  run: WriteRun,
  round: Round,
  end: GroupEnd,
): Promise<Next> {
  const { connection } = run;
  const { ready: jobs } = round;
  switch (end.k) {
    case "committed":
      for (const [at, job] of jobs.entries()) settleEnd(job, end.ends[at]);
      return answered;
    case "stale":
      await connection.seen(end.engineVersion);
      return { left: jobs, apart: false };
    case "apart":
      return { left: jobs, apart: true };
    case "stopped":
      return { left: jobs.flatMap((job) => settleStopped(run, job, end.outcome)), apart: false };
    case "refused":
      // One call may be the reason: alone, each gets its own answer.
      if (jobs.length > 1) return { left: jobs, apart: true };
      for (const job of jobs) {
        const at = await refusedAt(connection, job, end.failure);
        settleUnlogged(run, job, failedOutcome(end.failure, at, 0));
      }
      return answered;
    case "lost":
      return { left: await settleLost(run, round, end), apart: false };
  }
}

/** Index of the statement that has broken deferred references, which a dry run tells; otherwise the first. */
async function refusedAt(
  connection: RemoteConnection,
  job: CallJob,
  { kind }: EngineFailure,
): Promise<number> {
  if (kind !== "foreign_key_violation" || runsOf(job.call) === 1) return 0;
  const outcome = await dryRun(connection, job).catch(() => null);
  return outcome?.ok === false && outcome.failure.kind === kind ? outcome.failedIndex : 0;
}

/** Answers a stopped call, unless statements before the stopped one are to stay: those are left, to run again. */
function settleStopped(run: WriteRun, job: CallJob, ending: TenantOutcome): CallJob[] {
  const call = ending.ok === false ? whatStays(job.call, ending) : null;
  if (ending.ok === false && call !== null) {
    return [{ ...job, call, resolve: (outcome) => job.resolve(endedAfter(outcome, ending)) }];
  }
  settleUnlogged(run, job, ending);
  return [];
}

/** Answers a call whose log row, if it has one, is not written yet. */
export function settleUnlogged({ log }: Pick<WriteRun, "log">, job: CallJob, outcome: TenantOutcome): void {
  log.addEnd(job.call, outcome);
  job.resolve(outcome);
}

function settleEnd(job: CallJob, end: CallEnd | undefined): void {
  if (end?.k === "replay") job.resolve(end.found);
  else if (end) job.resolve(outcomeOf(end.run));
  else job.reject(new AppError("outcome_unknown"));
}

/** The answer to the commit was lost: each call's log row in the database says whether it was committed. */
async function settleLost(
  { connection, log }: WriteRun,
  { group, ready: jobs, attempt }: Round,
  { ends, mayComeLate = false }: Extract<GroupEnd, { readonly k: "lost" }>,
): Promise<readonly CallJob[]> {
  const logs = jobs.flatMap(({ call }) => call.log ?? []);
  const ids = logs.map(({ id }) => id);
  const committed = ids.length === 0 ? null : await findCommitted(connection, ids, mayComeLate ? logs : []);
  // The log rows were in that transaction too. Rows that are there already are not written twice.
  if (committed === null || committed.size === 0) log.putBack(group.logRows);
  if (committed === null) {
    for (const job of jobs) job.reject(new AppError("outcome_unknown"));
    return [];
  }
  const again: CallJob[] = [];
  for (const [at, job] of jobs.entries()) {
    const end = ends[at];
    if (end?.k === "replay" || committed.has(job.call.log?.id ?? "")) settleEnd(job, end);
    else if (job.call.log === null) job.reject(new AppError("outcome_unknown"));
    else again.push(job);
  }
  if (again.length > 0 && attempt > 0) throw new AppError("store_unavailable");
  return again;
}

/** Decides what follows a failed try that has committed nothing. Throws when there is no use in another one. */
async function afterFailure(run: WriteRun, round: Round, error: unknown): Promise<Next> {
  const { ready, group, careful, attempt, untilMs } = round;
  if (error instanceof Stopped && error.why === "nobody_waits") return { left: ready, apart: false };
  const failure = statementFailure(error);
  if (failure === null) {
    if (!(error instanceof RemoteFailure)) throw error;
    await pause(await pauseBefore(run.connection, error, attempt, untilMs));
    return { left: ready, apart: false };
  }
  const several = ready.length > 1 || ready.some(({ call }) => call.statements.length > 1);
  if (several && !careful) return { left: ready, apart: true };
  const outcome = failedOutcome(failure, 0, failure === timedOut ? group.timeoutMs : 0);
  for (const job of ready) settleUnlogged(run, job, outcome);
  return answered;
}

/** One call after the other; a single one statement by statement. */
async function runApart(run: WriteRun, jobs: readonly CallJob[]): Promise<void> {
  if (jobs.length === 1) return await runWrites(run, jobs, { careful: true });
  for (const job of jobs) {
    await runWrites(run, [job]).catch((error) => job.reject(error));
  }
}
