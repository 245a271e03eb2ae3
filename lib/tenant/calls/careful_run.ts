// The careful way to run a call: each statement behind a savepoint of its own, checked before the next one runs. For calls
// that the quick ways of the stores cannot run.
import type { EngineFailure } from "../../engine/engine_failure.ts";
import type { TenantCall, TenantStatement } from "../tenant_store.ts";
import { type CallRun, CallRunner, endedRun } from "./call_run.ts";
import { nothingBeside, rowsBeside, textBefore, textBehind } from "./counted_rows.ts";
import { brokenReference, type DeferredReferences } from "./deferred_references.ts";
import type { FootprintWatch } from "./footprint_watch.ts";
import { type Answer, failureOf, numbersIn, stepOf, type Work } from "./work.ts";

export interface CarefulOptions {
  readonly call: Pick<TenantCall, "statements" | "atomic" | "affected" | "bounds" | "rowForm">;
  /** Statements that run, from the first on; `notRun`: why no more of them do. */
  readonly count: number;
  readonly notRun: EngineFailure | null;
  /** Null where statements may leave deferred references broken. */
  readonly deferred: DeferredReferences | null;
  readonly watch: FootprintWatch | null;
  /** Rows that each statement reads by itself, where it is run so that it reads more. */
  readonly ownReads?: readonly number[] | null;
}

/** One run; what is known of it can be read also when it does not come to its end. */
export class CarefulRun {
  readonly runner: CallRunner;
  /** Index of the statement that runs. */
  at = 0;
  /** What closes the savepoint of the last statement. */
  closing: readonly string[] = [];

  constructor(private readonly options: CarefulOptions) {
    this.runner = new CallRunner(options.call);
  }

  /** Up to the first failure. The savepoint of the last statement stays open. */
  *run(): Work<CallRun> {
    const { call, count, notRun, deferred } = this.options;
    if (deferred) yield* deferred.raised();
    for (const statement of call.statements.slice(0, count)) {
      yield* this.#run(statement);
      this.closing = this.runner.ended
        ? ["ROLLBACK TO statement", "RELEASE statement"]
        : ["RELEASE statement"];
      if (this.runner.ended) break;
      this.at++;
    }
    return this.runner.run(notRun);
  }

  *#run(statement: TenantStatement): Work<void> {
    const { call: { rowForm }, deferred, watch, ownReads } = this.options;
    const { level, after = [] } = statement;
    if (watch) yield* watch.begin(level, statement.schemaRows?.rows ?? null);
    const before = stepOf(textBefore(statement));
    const answers = yield {
      before: this.closing,
      savepoint: "statement",
      steps: [
        ...before,
        { statement, bounds: this.runner.bounds, rowForm },
        ...stepOf(textBehind(statement)),
      ],
    };
    const ran = answers[before.length];
    const counts = [before.length > 0 ? answers[0] : undefined, answers[before.length + 1]] as const;
    const notes = ran?.ok && watch ? yield* watch.end() : 0;
    const mayBreak = ran?.ok && (level === "schema" || ran.figures.changes > 0);
    const breaks = mayBreak && deferred ? yield* deferred.raised() : false;
    if (!ran?.ok || breaks) watch?.undone(notes);
    if (breaks) return this.runner.fail(brokenReference);
    this.#add(statement, ran, counts, {
      notes,
      ownReads: ownReads?.[this.at],
    });
    if (this.runner.ended) return;
    // Nothing of the service's own runs behind a statement that has failed.
    const behind = after.length > 0 ? yield { steps: after } : [];
    const failed = behind.find(({ ok }) => !ok);
    if (failed) this.runner.fail(failureOf(failed));
  }

  #add(
    statement: TenantStatement,
    ran: Answer | undefined,
    counts: readonly [before: Answer | undefined, behind: Answer | undefined],
    { notes, ownReads }: { readonly notes: number; readonly ownReads: number | undefined },
  ): void {
    if (!ran) throw new TypeError("a statement without an answer");
    const changes = ran.figures.changes - notes;
    const figures = { ...ran.figures, changes, rowsRead: ownReads ?? ran.figures.rowsRead };
    const beside = ran.ok
      ? rowsBeside(statement, [numbersIn(counts[0]), numbersIn(counts[1])], changes)
      : nothingBeside;
    if (ran.ok) this.runner.add({ json: ran.json, failure: null, figures, beside });
    else {this.runner.add({
        json: "",
        failure: ran.failure,
        tooLarge: ran.tooLarge ?? false,
        figures,
        beside,
      });}
  }

  /** What the call did, in the transaction that is still open. */
  *ended(run: CallRun): Work<CallRun> {
    const { call, watch } = this.options;
    return endedRun(run, call, watch ? yield* watch.isExpected() : true);
  }
}
