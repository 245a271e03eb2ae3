// One merge into a remote trunk: in one transaction of it, with its log and audit rows, after a snapshot. Until the commit
// is sent nothing can have been committed.
import { roundMs } from "../../../core/clock.ts";
import type { MergeDone, MergeReport } from "../../../sql/service/branch_report.ts";
import { AppError } from "../../../core/errors.ts";
import type { BranchMerge, MergeOutcome } from "../../branch_store.ts";
import type { Compared } from "../../branches/compare_sides.ts";
import { mergeRows } from "../../branches/merge_rows.ts";
import { MergeRun } from "../../branches/merge_run.ts";
import { mergeSchema } from "../../branches/merge_schema.ts";
import type { OpenTrial } from "../../branches/trial_database.ts";
import { type Answer, type Ask, rowsOf } from "../../branches/work.ts";
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import type { LogIdentity } from "../../tenant_store.ts";
import { sendCommit } from "../calls/send_commit.ts";
import { findCommitted } from "../calls/find_committed.ts";
import { commitSteps } from "../calls/record_steps.ts";
import { OWN_TIMEOUT_MS } from "../server/remote_context.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";
import type { RemoteSnapshots } from "./remote_snapshots.ts";
import type { RemoteConnection } from "../connection/remote_connection.ts";
import type { SchemaGate } from "../gate/schema_gate.ts";
import { VERSION } from "../connection/write_steps.ts";
import { runRemotely, SideStream, StatementFailed } from "./side_stream.ts";

export interface MergeParts {
  readonly ancestor: SideStream;
  readonly branch: SideStream;
  readonly trunk: RemoteConnection;
  readonly snapshots: RemoteSnapshots;
  readonly openTrial: OpenTrial;
}

type Outcome = MergeOutcome<EngineFailure>;

export class RemoteMerge {
  readonly #run: MergeRun;
  /** Milliseconds that it has taken until its commit. */
  #endedMs: number | null = null;
  #asksForSnapshot = false;

  constructor(
    private readonly parts: MergeParts,
    private readonly merge: BranchMerge<LogIdentity>,
    private readonly compared: Compared,
    private readonly startedMs: number,
  ) {
    this.#run = new MergeRun(merge, compared.diff);
    this.#run.rowsRead += compared.rowsRead;
  }

  /** Whether the snapshot of its label may be its own: it has at least asked for it. */
  get mayHaveSnapshot(): boolean {
    return this.#asksForSnapshot;
  }

  /** For the write slot of the trunk. Throws `RemoteFailure` and `Stopped`: nothing was committed then. */
  async run(): Promise<Outcome> {
    const { trunk, snapshots } = this.parts;
    const { diff } = this.compared;
    const { dryRun, mode, snapshot } = this.merge;
    const changes = mode === "data" ? diff.tables.length : diff.schema.statements.length;
    const taken = !dryRun && changes > 0;
    this.#asksForSnapshot = taken;
    if (taken) await snapshots.take(trunk, snapshot);
    try {
      const failure = await this.#transact();
      const committed = failure === null && this.#run.complete && !dryRun;
      const snapshotTaken = taken && committed && this.#run.wrote;
      if (taken && !snapshotTaken) await snapshots.dropUnused(trunk.databaseId, snapshot);
      return this.#outcome(failure, snapshotTaken);
    } catch (error) {
      if (taken) await snapshots.dropBehind(error, trunk.databaseId, snapshot);
      throw error;
    }
  }

  /** Merges and commits, or undoes it. Returns what one of its statements has failed by. */
  async #transact(): Promise<EngineFailure | null> {
    const { ancestor, branch, trunk, openTrial } = this.parts;
    const { context } = trunk;
    const run = this.#run;
    // Rows are merged as they are: what cascades and triggers did to them is part of the branch's changes already.
    const stream = new SideStream(
      (request, options) => trunk.send("write", request, options),
      ["PRAGMA foreign_keys=OFF", "BEGIN IMMEDIATE"],
      Math.max(OWN_TIMEOUT_MS, context.queryTimeoutMs),
    );
    try {
      const schemaGate = run.mode === "schema" ? await trunk.freshSchemaGate() : null;
      if (schemaGate) await requireVersion(stream, schemaGate.schema.engineVersion);
      const gated = { answer: (ask: Ask) => answerGated(stream, ask, schemaGate) };
      const work = run.mode === "schema"
        ? mergeSchema(run, this.compared, openTrial)
        : mergeRows(run, this.compared);
      await runRemotely(work, { ancestor, branch, trunk: gated });
      return run.complete && !this.merge.dryRun ? await this.#commit(stream) : null;
    } catch (error) {
      if (error instanceof StatementFailed) return error.failure;
      throw error;
    } finally {
      await stream.end();
    }
  }

  /** Errors: `outcome_unknown` where nobody can tell. */
  async #commit(stream: SideStream): Promise<EngineFailure | null> {
    const { trunk } = this.parts;
    const run = this.#run;
    const log = { ...this.merge.log, sql: run.logText(this.merge.log.sql) };
    this.#endedMs = this.#ms;
    const { rowsRead, rowsWritten } = run;
    const figures = { rowsRead, rowsWritten, ms: this.#ms, failure: null };
    // A snapshot is taken wherever something is written.
    const done: MergeDone = { report: this.#report(), snapshotTaken: run.wrote };
    const { replay = null } = this.merge;
    const results = replay === null ? [] : [{ json: JSON.stringify(done), rowsRead, rowsWritten }];
    const call = { log, replay, failsWith: null, auditTables: run.auditTables, changed: run.changed };
    const steps = commitSteps(
      [],
      [{ call, run: { ...figures, results }, auditId: this.merge.auditId }],
      [],
      [],
    );
    const baton = await stream.leave();
    // On another stream the log rows would be committed without the rows of the merge.
    if (baton === null) throw new RemoteFailure("lost_stream");
    const end = await sendCommit(trunk, steps, { baton });
    if (end.k === "committed") return null;
    if (end.k === "refused") return end.failure;
    const found = await findCommitted(trunk, [log.id]);
    if (found === null) throw new AppError("outcome_unknown");
    trunk.forgetSchema();
    if (!found.has(log.id)) throw new RemoteFailure("lost_stream");
    return null;
  }

  #outcome(failure: EngineFailure | null, snapshotTaken: boolean): Outcome {
    const outcome = failure === null ? this.#run.outcome : "failed";
    const { refusal, rowsRead } = this.#run;
    const report = this.#report();
    return { outcome, report, reason: refusal, failure, snapshotTaken, rowsRead, durationMs: this.#ms };
  }

  #report(): MergeReport {
    const { conflicts, rowsWritten, statements, writes } = this.#run;
    return { ...this.compared.diff, conflicts, writes, rowsWritten, statementsRun: statements.length };
  }

  get #ms(): number {
    return this.#endedMs ?? roundMs(this.parts.trunk.context.clock.monotonicMs() - this.startedMs);
  }
}

/** The transaction must see the schema for which its statements were gated. */
async function requireVersion(stream: SideStream, engineVersion: number): Promise<void> {
  const rows = await runRemotely(rowsOf("trunk", VERSION), { trunk: stream });
  if (Number(rows[0]?.[0]) !== engineVersion) throw new RemoteFailure("lost_stream", "another schema");
}

/** Texts of a tenant reach the server only through the gate. */
async function answerGated(
  stream: SideStream,
  ask: Ask,
  schemaGate: SchemaGate | null,
): Promise<readonly Answer[]> {
  if (ask.level === "schema") {
    const statements = ask.statements.map(({ sql }) => ({ sql, params: [], level: "schema" }) as const);
    const gate = await schemaGate?.gate({ level: "schema", statements });
    if (gate?.failure) throw new StatementFailed(gate.failure);
  }
  return await stream.answer(ask);
}
