// A remote database in use: its writes one at a time, its reads, and what belongs to it alone. `RemoteConnection` knows the
// database, `TenantLog` has the log rows that wait, `Lane` what waits for the write slot, `SlowReads` the reads that wait.
import { reasonOf } from "../../core/attempt.ts";
import { AppError } from "../../core/errors.ts";
import type { ReplayKeys } from "../stored_answer.ts";
import type { RestoreEffect } from "../../sql/service/branch_report.ts";
import type { Restored } from "../damage.ts";
import { logRow, noFigures } from "../log_columns.ts";
import type { ServiceStatement } from "../service_statement.ts";
import type { RestoreOptions, SnapshotInfo } from "../snapshots.ts";
import type { LogIdentity, ReplayFound, TenantCall, TenantOutcome } from "../tenant_store.ts";
import { statementOfRun } from "../../sql/words/param_sets.ts";
import { unlessUsedUp } from "../calls/used_up.ts";
import { answerAsk } from "./calls/answer_ask.ts";
import { closeComments } from "./gate/sent_text.ts";
import { NOTHING_RAN, RemoteFailure } from "./hrana/remote_failure.ts";
import { chain, ownTransaction, type StepList } from "./hrana/step_list.ts";
import { stepFailure } from "./hrana/step_failure.ts";
import { Lane } from "./calls/lane.ts";
import type { RemoteConnection } from "./connection/remote_connection.ts";
import { rowsAt } from "./server/remote_context.ts";
import { dryRun } from "./calls/remote_dry_run.ts";
import type { RemoteSnapshots } from "./copies/remote_snapshots.ts";
import { findStep, foundReplay, noteKeys } from "./connection/replay_statements.ts";
import { runRead } from "./calls/run_reads.ts";
import { runWrites, settleUnlogged } from "./calls/run_writes.ts";
import { SlowReads } from "./calls/slow_reads.ts";
import type { SlowSlots } from "./calls/slow_slots.ts";
import { TenantLog } from "./calls/tenant_log.ts";
import { untilAnswered } from "./connection/until_answered.ts";
import { asked, type CallJob } from "./calls/write_call.ts";
import { awaitWork } from "../../core/run_work.ts";

/** Lives while the database is in use, and until it has been idle for long. */
export class RemoteTenant {
  readonly log: TenantLog;
  readonly #lane: Lane;
  readonly #slowReads: SlowReads;
  /** Reads under way. */
  #reads = 0;
  #isRestoring = false;
  /** Settles when the last round in which snapshots are dropped has ended. */
  #pruning: Promise<void> = Promise.resolve();

  constructor(
    readonly connection: RemoteConnection,
    private readonly snapshots: RemoteSnapshots,
    slots: SlowSlots,
  ) {
    this.#slowReads = new SlowReads(connection, slots);
    this.#lane = new Lane(
      (jobs) => this.#runJobs(jobs),
      async () => !(await connection.schemaGate()).hasDeferredConstraints,
      connection.context.clock,
    );
    this.log = new TenantLog(connection, this.#lane);
  }

  get idle(): boolean {
    return this.#lane.idle && this.#reads === 0 && this.log.isEmpty;
  }

  async run(given: TenantCall, namespaceId: string): Promise<TenantOutcome> {
    const call = closeComments(given);
    if (call.readsLog) await this.log.flush();
    if (call.level === "read" && !call.dryRun) return await this.#read(call, namespaceId);
    if (this.connection.isDropped) throw new AppError("store_unavailable");
    if (call.log !== null && !call.dryRun) this.log.note(logRow({ ...call.log, ...noFigures }));
    try {
      const outcome = await new Promise<TenantOutcome>((resolve, reject) =>
        this.#lane.addCall({ ...asked(call), resolve, reject })
      );
      return await namedOutcome(this.connection, call, outcome);
    } finally {
      if (call.snapshot !== null) this.pruneSnapshots();
    }
  }

  /** The service's own statements in one transaction. Errors: `outcome_unknown` when the answer was lost. */
  async write(statements: readonly ServiceStatement[]): Promise<void> {
    await this.#ownTransaction((list) => {
      for (const { sql, params } of statements) chain(list, sql, params);
    });
    this.connection.forgetSchema();
  }

  /** Errors: `outcome_unknown` when the answer was lost. */
  noteReplay(replay: ReplayKeys): Promise<void> {
    return this.#ownTransaction((list) => noteKeys(list, replay));
  }

  async findReplay(replay: ReplayKeys): Promise<ReplayFound | null> {
    return await untilAnswered(async () => {
      const steps = await this.connection.runOwn("read", [{ stmt: findStep(replay) }]);
      rowsAt(steps, 0);
      return foundReplay(replay, steps[0] ?? null);
    }, () => this.connection);
  }

  /** Does the work while nothing else of this process writes to the database. */
  inSlot<T>(work: () => Promise<T>): Promise<T> {
    return this.#lane.addTask(work);
  }

  async takeSnapshot(label: string): Promise<SnapshotInfo> {
    const taken = await this.inSlot(() => this.snapshots.take(this.connection, label));
    this.pruneSnapshots();
    return taken;
  }

  compareSnapshot(label: string): Promise<RestoreEffect | null> {
    return this.inSlot(() => this.snapshots.compare(this.connection, label));
  }

  /** Errors: `database_busy` while another restore waits or is under way, and those of a restore. */
  async restore(label: string, more: RestoreOptions<LogIdentity>): Promise<Restored> {
    if (this.#isRestoring) throw new AppError("database_busy");
    this.#isRestoring = true;
    try {
      return await this.inSlot(() => this.snapshots.restore(this.connection, { label, ...more }));
    } finally {
      this.#isRestoring = false;
      this.pruneSnapshots();
    }
  }

  /** Drops snapshots that are too many or too old, soon and one round after the other. */
  pruneSnapshots(): void {
    const { databaseId, context } = this.connection;
    this.#pruning = this.#pruning.then(() => this.snapshots.prune(databaseId)).catch((error) => {
      context.log("warn", "snapshots_not_pruned", { databaseId, reason: reasonOf(error) });
    });
  }

  /** Nothing starts any more; what waits is refused. */
  drop(): void {
    this.connection.drop();
    this.#lane.rejectAll(new AppError("store_unavailable"));
    this.log.stop();
  }

  /** Finishes what is under way and writes the log rows that wait. */
  async close(): Promise<void> {
    this.log.stop();
    await this.#lane.drained;
    if (!this.log.isEmpty && !this.connection.isDropped) await this.log.flush().catch(() => {});
    await this.#pruning;
  }

  async #read(call: TenantCall, namespaceId: string): Promise<TenantOutcome> {
    const job = asked(call);
    this.#reads++;
    try {
      const read = (giveWay: AbortSignal) => runRead(this.connection, job, giveWay);
      const outcome = await this.#slowReads.run({ ...job, namespaceId }, read);
      this.log.addEnd(call, outcome);
      return outcome;
    } finally {
      this.#reads--;
    }
  }

  async #runJobs(jobs: readonly CallJob[]): Promise<void> {
    const [first] = jobs;
    if (first?.call.dryRun) return settleUnlogged(this, first, await dryRun(this.connection, first));
    const snapshot = first?.call.snapshot ?? null;
    if (first && snapshot !== null) return await this.#runWithSnapshot(first, snapshot);
    await this.#runWrites(jobs);
  }

  async #runWithSnapshot(job: CallJob, label: string): Promise<void> {
    if (await this.#answerReplay(job)) return;
    const { databaseId } = this.connection;
    await this.snapshots.take(this.connection, label);
    try {
      const outcome = await new Promise<TenantOutcome>((resolve, reject) => {
        this.#runWrites([{ ...job, resolve, reject }]).catch(reject);
      });
      const nothingStays = typeof outcome.ok === "string" || !outcome.ok && outcome.results.length === 0;
      // Whoever is told of a failure finds no snapshot of it.
      if (nothingStays) await this.snapshots.dropUnused(databaseId, label);
      job.resolve(outcome);
    } catch (error) {
      await this.snapshots.dropBehind(error, databaseId, label);
      job.reject(error);
    }
  }

  #runWrites(jobs: readonly CallJob[]): Promise<void> {
    const { connection, log } = this;
    return runWrites({ connection, log, findReplay: (job) => this.#answerReplay(job) }, jobs);
  }

  async #answerReplay({ call, resolve }: CallJob): Promise<boolean> {
    const found = call.replay && await this.findReplay(call.replay);
    if (found) resolve(found);
    return Boolean(found);
  }

  #ownTransaction(fill: (list: StepList) => void): Promise<void> {
    return this.inSlot(() =>
      untilAnswered(() => runOwnTransaction(this.connection, fill), ({ reason }) => {
        if (!NOTHING_RAN.includes(reason)) throw new AppError("outcome_unknown");
        return this.connection;
      })
    );
  }
}

async function runOwnTransaction(
  connection: RemoteConnection,
  fill: (list: StepList) => void,
): Promise<void> {
  const steps = await connection.runOwn("write", ownTransaction(fill).steps);
  const failed = steps.find((step) => step?.ok === false);
  if (failed?.ok !== false) return;
  throw new AppError(stepFailure(failed).kind === "full" ? "storage_full" : "store_unavailable");
}

/**
 * The outcome with the failure by its real name: a server, as the engine inside of it, says that the disk is full when a
 * table with AUTOINCREMENT has no number left. As it was where the database does not tell.
 */
async function namedOutcome(
  connection: RemoteConnection,
  call: TenantCall,
  outcome: TenantOutcome,
): Promise<TenantOutcome> {
  if (outcome.ok !== false || outcome.failure.kind !== "full") return outcome;
  const at = statementOfRun(call, outcome.failedIndex);
  const statements = call.statements.slice(0, at + 1)
    .map(({ sql, level }) => ({ sql, changesSchema: level === "schema" }));
  try {
    const schemaGate = await connection.schemaGate();
    const { facts } = await schemaGate.inspect(statements);
    const actions = () => facts[at]?.actions ?? [];
    const failure = await awaitWork(
      unlessUsedUp(outcome.failure, actions),
      (ask) => answerAsk((steps) => connection.runOwn("read", steps), ask),
    );
    return { ...outcome, failure };
  } catch (error) {
    if (error instanceof RemoteFailure) return outcome;
    throw error;
  }
}
