// A remote database in use: its lane of writes, its reads, and the log rows that wait for company.
import { AppError } from "../../core/errors.ts";
import { LOG_DELAY_MS } from "../../core/limits.ts";
import type { ServiceStatement } from "../service_statement.ts";
import type { ReplayKeys } from "../stored_answer.ts";
import type { ReplayFound, TenantCall, TenantOutcome } from "../tenant_store.ts";
import { closeComments } from "./gate/close_comments.ts";
import { dryRun } from "./remote_dry_run.ts";
import { flushLog } from "./flush_log.ts";
import { all, type HranaStep, ifOk, inTransaction, not } from "./hrana/hrana.ts";
import { Lane } from "./lane.ts";
import { logRow, type LogValues, noFigures } from "../log_columns.ts";
import { rowsAt, runOwn } from "./remote_context.ts";
import type { RemoteReason } from "./hrana/remote_failure.ts";
import type { RemoteSnapshots } from "./remote_snapshots.ts";
import type { RemoteTenant } from "./remote_tenant.ts";
import { hranaValue } from "./hrana/remote_values.ts";
import { findStep, foundReplay, noteKeys } from "./replay_statements.ts";
import { untilAnswered } from "./until_answered.ts";
import { runRead } from "./run_reads.ts";
import { runWrites } from "./run_writes.ts";
import { SlowReads, type SlowSlots } from "./slow_reads.ts";
import { stepFailure } from "./hrana/step_failure.ts";
import { type CallJob, settleUnlogged } from "./write_call.ts";
import { StepList } from "./hrana/step_list.ts";
import { namedOutcome } from "./named_outcome.ts";

/** Milliseconds until log rows that could not be written are tried again. */
const LOG_RETRY_MS = 2000;
/** Log rows that a group of writes takes along. */
const GROUP_LOG_ROWS = 500;
/** What is said before a request begins to run. */
const NOTHING_RAN: readonly RemoteReason[] = ["not_sent", "gone", "denied", "blocked"];

export class OpenTenant {
  restoring = false;
  readonly lane: Lane;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #thinning: Promise<void> = Promise.resolve();
  #reads = 0;
  #logPauseMs = LOG_DELAY_MS / 2;
  #closed = false;

  readonly #slowReads: SlowReads;

  constructor(
    readonly remote: RemoteTenant,
    private readonly snapshots: RemoteSnapshots,
    slots: SlowSlots,
  ) {
    this.#slowReads = new SlowReads(remote, slots);
    this.lane = new Lane(
      (jobs) => this.#runJobs(jobs),
      async () => !(await remote.schemaGate()).hasDeferredConstraints,
      remote.context.clock,
    );
  }

  get idle(): boolean {
    return this.lane.idle && this.#reads === 0 && this.remote.log.length === 0;
  }

  async run(asked: TenantCall): Promise<TenantOutcome> {
    const call = closeComments(asked);
    if (call.readsLog) await this.flush();
    if (call.level === "read" && !call.dryRun) return await this.#read(call);
    if (this.remote.dropped) throw new AppError("store_unavailable");
    if (call.log !== null && !call.dryRun) this.remote.log.note(logRow({ ...call.log, ...noFigures }));
    try {
      const outcome = await new Promise<TenantOutcome>((resolve, reject) =>
        this.lane.addCall({ call, resolve, reject, signal: call.signal() })
      );
      return await namedOutcome(this.remote, call, outcome);
    } finally {
      if (call.snapshot !== null) this.thin();
      this.#armTimer();
    }
  }

  /** The service's own statements in one transaction. Errors: `outcome_unknown` when the answer was lost. */
  async write(statements: readonly ServiceStatement[]): Promise<void> {
    await this.#ownTransaction((list) => {
      for (const { sql, params } of statements) {
        list.add(sql, ifOk(list.steps.length - 1), params.map(hranaValue));
      }
    });
    this.remote.forgetSchema();
  }

  noteReplay(replay: ReplayKeys): Promise<void> {
    return this.#ownTransaction((list) => noteKeys(list, replay));
  }

  async findReplay(replay: ReplayKeys): Promise<ReplayFound | null> {
    const step: HranaStep = { stmt: findStep(replay) };
    return await untilAnswered(async () => {
      const { location } = await this.remote.located();
      const steps = await runOwn(this.remote.context, { location, mode: "read" }, [step]);
      rowsAt(steps, 0);
      return foundReplay(replay, steps[0] ?? null);
    }, () => this.remote);
  }

  addLogRow(row: LogValues): void {
    this.remote.log.add(row);
    this.#armTimer();
  }

  /** Resolves when a statement would see the log rows that wait now. Nobody waits: one try must do. */
  async flush(nobodyWaits = false): Promise<void> {
    // Rows that a group under way has taken along are not in the table yet either.
    const { log } = this.remote;
    if (log.length === 0 && !log.isTooLarge && this.lane.idle) return;
    const written = await this.lane.addTask(() => flushLog(this.remote, nobodyWaits));
    this.#logPauseMs = written ? LOG_DELAY_MS / 2 : LOG_RETRY_MS;
  }

  /** Drops snapshots that are too many or too old, soon and one round after the other. */
  thin(): void {
    const { databaseId, context } = this.remote;
    this.#thinning = this.#thinning.then(() => this.snapshots.thin(databaseId)).catch(() => {
      context.log("warn", "snapshots_not_pruned");
    });
  }

  /** Nothing starts any more; what waits is refused. */
  drop(): void {
    this.remote.dropped = true;
    this.lane.rejectAll(new AppError("store_unavailable"));
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** Finishes what is under way and writes the log rows that wait. */
  async close(): Promise<void> {
    // A flush under way would arm it again behind its failure.
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.lane.drained;
    if (this.remote.log.length > 0 && !this.remote.dropped) await this.flush().catch(() => {});
    await this.#thinning;
  }

  async #read(call: TenantCall): Promise<TenantOutcome> {
    this.#reads++;
    try {
      return await new Promise((resolve, reject) => {
        const job: CallJob = { call, resolve, reject, signal: call.signal() };
        const read = (giveWay: AbortSignal) => runRead(this.remote, job, giveWay);
        this.#slowReads.run(job, read).then((outcome) => settleUnlogged(this.remote, job, outcome), reject);
      });
    } finally {
      this.#reads--;
      this.#armTimer();
    }
  }

  async #runJobs(jobs: readonly CallJob[]): Promise<void> {
    const [first] = jobs;
    if (first?.call.dryRun) return settleUnlogged(this.remote, first, await dryRun(this.remote, first));
    const snapshot = first?.call.snapshot ?? null;
    if (first && snapshot !== null) return await this.#runWithSnapshot(first, snapshot);
    await this.#runWrites(jobs);
  }

  async #runWithSnapshot(job: CallJob, label: string): Promise<void> {
    if (await this.#answerReplay(job)) return;
    const { databaseId } = this.remote;
    await this.snapshots.take(this.remote, label);
    try {
      const outcome = await new Promise<TenantOutcome>((resolve, reject) => {
        this.#runWrites([{ ...job, resolve, reject }]).catch(reject);
      });
      const nothingKept = typeof outcome.ok === "string" || !outcome.ok && outcome.results.length === 0;
      // Whoever is told of a failure finds no snapshot of it.
      if (nothingKept) await this.snapshots.dropUnused(databaseId, label);
      job.resolve(outcome);
    } catch (error) {
      await this.snapshots.dropBehind(error, databaseId, label);
      job.reject(error);
    }
  }

  #runWrites(jobs: readonly CallJob[]): Promise<void> {
    const { remote } = this;
    const takeLogRows = () => remote.log.take(GROUP_LOG_ROWS);
    return runWrites({ tenant: remote, findReplay: (job) => this.#answerReplay(job), takeLogRows }, jobs);
  }

  async #answerReplay({ call, resolve }: CallJob): Promise<boolean> {
    const found = call.replay && await this.findReplay(call.replay);
    if (found) resolve(found);
    return Boolean(found);
  }

  #ownTransaction(fill: (list: StepList) => void): Promise<void> {
    return this.lane.addTask(() =>
      untilAnswered(() => runOwnTransaction(this.remote, fill), ({ reason }) => {
        if (!NOTHING_RAN.includes(reason)) throw new AppError("outcome_unknown");
        return this.remote;
      })
    );
  }

  #armTimer(): void {
    const { dropped, log } = this.remote;
    if (this.#timer !== null || this.#closed || dropped || (log.length === 0 && !log.isTooLarge)) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.flush(true).catch(() => {}).finally(() => this.#armTimer());
    }, this.#logPauseMs);
  }
}

async function runOwnTransaction(remote: RemoteTenant, fill: (list: StepList) => void): Promise<void> {
  const list = new StepList();
  list.add("BEGIN IMMEDIATE");
  fill(list);
  const commit = list.add("COMMIT", ifOk(list.steps.length - 1));
  list.add("ROLLBACK", all(not(ifOk(commit)), inTransaction));
  const { location } = await remote.located();
  const steps = await runOwn(remote.context, { location, mode: "write" }, list.steps);
  const failed = steps.find((step) => step?.ok === false);
  if (failed?.ok !== false) return;
  throw new AppError(stepFailure(failed).kind === "full" ? "storage_full" : "store_unavailable");
}
