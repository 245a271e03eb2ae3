// The careful way to run a call: each statement behind a savepoint of its own, checked before the next one runs. For calls
// that the quick ways of the stores cannot run.
import type { EngineFailure } from "../../engine/engine_failure.ts";
import type { TenantCall } from "../tenant_store.ts";
import type { TenantStatement } from "../tenant_statement.ts";
import { type CallRun, CallRunner, endedRun } from "./call_run.ts";
import { nothingBeside, rowsBeside, textBefore, textBehind } from "./counted_rows.ts";
import { brokenReference, type DeferredReferences } from "./deferred_references.ts";
import type { ParamSets } from "../../sql/words/param_sets.ts";
import type { FootprintWatch } from "./footprint_watch.ts";
import type { MigrationWatch } from "./migration_watch.ts";
import { ReturnedRows } from "./returned_rows.ts";
import { type Answer, failureOf, numbersIn, stepOf, type Work } from "./work.ts";

export interface CarefulOptions {
  readonly call: Pick<
    TenantCall,
    "level" | "statements" | "paramSets" | "rowidOf" | "atomic" | "affected" | "bounds" | "rowForm"
  >;
  /** Statements that run, from the first on; `notRun`: why no more of them do. */
  readonly count: number;
  readonly notRun: EngineFailure | null;
  /** Null where statements may leave deferred references broken. */
  readonly deferred: DeferredReferences | null;
  readonly watch: FootprintWatch | null;
  /** Null where the call applies no migration file. */
  readonly migration: MigrationWatch | null;
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
  readonly #returned: ReturnedRows;

  constructor(private readonly options: CarefulOptions) {
    this.runner = new CallRunner(options.call);
    this.#returned = new ReturnedRows(options.call.statements);
  }

  /** Up to the first failure. The savepoint of the last statement stays open. */
  *run(): Work<CallRun> {
    const { call, count, notRun, deferred, migration } = this.options;
    const refused = migration ? yield* migration.begin() : null;
    if (refused) this.runner.fail(refused);
    if (deferred) yield* deferred.raised();
    for (const { statement, sets } of refused ? [] : this.#runs(count)) {
      const first = this.at;
      const filled = this.#returned.fill(statement);
      if (!filled.ok) {
        this.runner.fail(filled.failure);
        break;
      }
      yield* this.#run(filled.statement, sets);
      // The sets before a failed one stay where the call is not atomic.
      const undone = this.runner.ended && (!sets || call.atomic || sets.length === 1);
      this.closing = undone ? ["ROLLBACK TO statement", "RELEASE statement"] : ["RELEASE statement"];
      if (this.runner.ended) break;
      this.at = first + (sets?.length ?? 1);
    }
    if (migration && !this.runner.ended && notRun === null) {
      const failure = yield* migration.end();
      if (failure) this.runner.fail(failure);
    }
    return this.runner.run(notRun);
  }

  /** What has run, where nobody can tell the result of the statement that runs: its savepoint is open, and it is undone. */
  cut(failure: EngineFailure): CallRun {
    this.runner.fail(failure);
    this.closing = ["ROLLBACK TO statement", "RELEASE statement"];
    return this.runner.run(null);
  }

  /** What is asked at a time: a statement, all of its sets, or one set where its references are counted behind it. */
  #runs(count: number): { readonly statement: TenantStatement; readonly sets: ParamSets | null }[] {
    const { call: { statements, paramSets = null }, deferred } = this.options;
    return statements.slice(0, count).flatMap((statement) =>
      paramSets && deferred
        ? paramSets.map((params) => ({ statement: { ...statement, params }, sets: [params] }))
        : [{ statement, sets: paramSets }]
    );
  }

  *#run(statement: TenantStatement, paramSets: ParamSets | null): Work<void> {
    const { call: { rowForm, atomic, rowidOf = null }, deferred, watch, ownReads } = this.options;
    const first = this.at;
    const done = (sets: number) => {
      this.at = first + sets;
    };
    const form = this.#returned.formOf(first, rowForm);
    const { level, after = [] } = statement;
    if (watch) yield* watch.begin(level, statement.schemaRows?.rows ?? null);
    const sets = paramSets && { paramSets, atomic, rowidOf, noted: watch?.noted ?? null, done };
    const before = stepOf(textBefore(statement));
    const answers = yield {
      before: this.closing,
      savepoint: "statement",
      steps: [
        ...before,
        { statement, bounds: this.runner.bounds, rowForm: form, ...(sets ? { sets } : {}) },
        ...stepOf(textBehind(statement)),
      ],
    };
    const ran = answers[before.length];
    const counts = [before.length > 0 ? answers[0] : undefined, answers[before.length + 1]] as const;
    const notes = ran?.ok && watch ? yield* watch.end() : 0;
    const mayBreak = ran?.ok && (level === "schema" || ran.figures.changes > 0);
    const breaks = mayBreak && deferred ? yield* deferred.raised() : false;
    const failed = !ran?.ok || (ran.sets?.failure && (atomic || ran.sets.part.returned.length === 0));
    if (failed || breaks) watch?.undone(notes);
    if (breaks) return this.runner.fail(brokenReference);
    this.#add(statement, ran, counts, {
      notes,
      ownReads: ownReads?.[this.at],
    });
    if (this.runner.ended) return;
    if (ran?.ok) this.#returned.add(ran.json);
    // Nothing of the service's own runs behind a statement that has failed.
    const behind = after.length > 0 ? yield { steps: after } : [];
    const broken = behind.find(({ ok }) => !ok);
    if (broken) this.runner.fail(failureOf(broken));
  }

  #add(
    statement: TenantStatement,
    ran: Answer | undefined,
    counts: readonly [before: Answer | undefined, behind: Answer | undefined],
    { notes, ownReads }: { readonly notes: number; readonly ownReads: number | undefined },
  ): void {
    if (!ran) throw new TypeError("a statement without an answer");
    // Of sets the store has left the notes out.
    const changes = ran.figures.changes - (ran.ok && ran.sets ? 0 : notes);
    const figures = { ...ran.figures, changes, rowsRead: ownReads ?? ran.figures.rowsRead };
    const beside = ran.ok
      ? rowsBeside(statement, [numbersIn(counts[0]), numbersIn(counts[1])], {
        changes,
        ownOfSets: ran.sets && ran.figures.ownRows,
      })
      : nothingBeside;
    if (ran.ok) {
      this.runner.add({ json: ran.json, failure: null, figures, beside, sets: ran.sets });
      return;
    }
    const tooLarge = ran.tooLarge ?? false;
    this.runner.add({ json: "", failure: ran.failure, tooLarge, figures, beside });
  }

  /** What the call did, in the transaction that is still open. */
  *ended(run: CallRun): Work<CallRun> {
    const { call, watch } = this.options;
    return endedRun(run, call, watch ? yield* watch.isExpected() : true);
  }
}
