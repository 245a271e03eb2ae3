// What a call would do: its statements run one after the other, in a transaction that whoever asks undoes.
import type { EngineFailure } from "../../engine/engine_failure.ts";
import type { Footprint } from "../../engine/footprint/footprint.ts";
import { jsonValue } from "../../engine/result_json.ts";
import type { StatementEffect } from "../../engine/statement_effect.ts";
import type { StatementTarget } from "../../engine/statement_target.ts";
import { type ParamSets, statementOfRun } from "../../sql/words/param_sets.ts";
import { asksChanges } from "../../sql/words/asks_changes.ts";
import { PLAIN_ROWS } from "../../sql/words/row_form.ts";
import type { TenantCall } from "../tenant_store.ts";
import type { TenantStatement } from "../tenant_statement.ts";
import { rowsBeside, textBefore, textBehind } from "./counted_rows.ts";
import { brokenReference, type DeferredReferences } from "./deferred_references.ts";
import { dryRuns, joinEffects } from "./dry_sets.ts";
import { HELD_ROWS, PREVIEW_ROWS, rowPreview, UNDO_EFFECT } from "./row_preview.ts";
import type { FootprintWatch } from "./footprint_watch.ts";
import { PreviewRoom } from "./preview_room.ts";
import { ReturnedRows } from "./returned_rows.ts";
import {
  type Answer,
  type CallerStep,
  failureOf,
  numbersIn,
  type OwnStep,
  stepOf,
  type Work,
} from "./work.ts";

export interface DryRunOptions {
  readonly call: Pick<TenantCall, "statements" | "paramSets" | "atomic" | "bounds" | "rowForm">;
  /** Statements that run, from the first on. */
  readonly count: number;
  /** Null where the call can break no deferred reference. */
  readonly deferred: DeferredReferences | null;
  readonly openWatch: (() => Work<FootprintWatch>) | null;
  /** What has to be known of a statement to show its rows. */
  readonly targetOf: (index: number) => StatementTarget | null;
  /** Above so many affected rows none is shown. */
  readonly mostPreviewed: number;
  /** Rows shown of a statement, where not as many as whoever looks at them needs. */
  readonly mostRows?: number;
}

/** What is known of a dry run, also of one that has not come to its end. */
export class DryRun {
  readonly results: { readonly json: string; readonly rowsRead: number }[] = [];
  readonly effects: StatementEffect[] = [];
  /** Index of the statement that runs, or has failed. */
  at = 0;
  /** Milliseconds in the engine, where it tells. */
  ms = 0;
  /** Of the statements that have run. */
  footprint: Footprint | null = null;
  /** Whether rows are being read to be shown. */
  isShowing = false;
  #watch: FootprintWatch | null = null;
  readonly #returned: ReturnedRows;
  readonly #room = new PreviewRoom();
  /** Questions for plans of statements that ask for `changes()`, by effect. The question sets it to 0, and the next one may ask too. */
  readonly #unplanned = new Map<number, OwnStep>();

  constructor(private readonly options: DryRunOptions) {
    this.#returned = new ReturnedRows(options.call.statements);
  }

  get rowsRead(): number {
    return this.results.reduce((sum, { rowsRead }) => sum + rowsRead, 0);
  }

  /**
   * The failure of the statement `at`, or null. Deferred references, which the engine checks at a commit that a dry run
   * never reaches, fail the statement that breaks them; in an atomic call the last one to do so, if they stay broken.
   */
  *run(): Work<EngineFailure | null> {
    const { call, count, deferred, openWatch } = this.options;
    if (deferred) yield* deferred.raised();
    if (openWatch) this.#watch = yield* openWatch();
    this.footprint = yield* this.#footprint();
    let raisedAt = 0;
    const runs = dryRuns(call, count, { counted: deferred !== null, held: openWatch !== null });
    for (const [index, { statement: asked, sets }] of runs.entries()) {
      const filled = this.#returned.fill(asked);
      if (!filled.ok) return filled.failure;
      const { statement } = filled;
      const last = index === runs.length - 1 && count === call.statements.length;
      const ran = yield* this.#effectOf(statement, sets);
      if (!ran.ok) return ran.failure;
      if (deferred && changesRows(ran.effect) && (yield* deferred.raised())) {
        if (!call.atomic) return brokenReference;
        raisedAt = this.at;
      }
      if (last && deferred?.broken) {
        this.at = raisedAt;
        return brokenReference;
      }
      this.footprint = yield* this.#footprint();
      const failure = yield* this.#show(statement, { effect: ran.effect, hidden: sets !== null }, last);
      if (failure) return failure;
      this.at += ran.ran;
      if (ran.failure) return ran.failure;
    }
    yield* this.#planAsking();
    return null;
  }

  /** Asks what could not be asked before the last statement had run. */
  *#planAsking(): Work<void> {
    const answers = this.#unplanned.size > 0 ? yield { steps: [...this.#unplanned.values()] } : [];
    for (const [index, at] of [...this.#unplanned.keys()].entries()) {
      const effect = this.effects[at];
      if (effect) this.effects[at] = { ...effect, plan: planRows(answers[index]) };
    }
  }

  /** Runs the statement behind the savepoint `effect`, which stays open, and counts. */
  *#effectOf(statement: TenantStatement, paramSets: ParamSets | null): Work<Ran> {
    const { level } = statement;
    if (this.#watch) yield* this.#watch.begin(level, statement.schemaRows?.rows ?? null);
    const schemaChange = level === "schema";
    const before = stepOf(textBefore(statement));
    const explain = { sql: `EXPLAIN QUERY PLAN ${statement.sql}`, params: statement.params };
    const asks = asksChanges(statement.sql);
    if (asks && !schemaChange) this.#unplanned.set(this.effects.length, explain);
    const plan = asks || schemaChange ? [] : [explain];
    const behind = stepOf(textBehind(statement));
    const answers = yield {
      savepoint: "effect",
      steps: [...before, ...plan, this.#callerStep(statement, paramSets), ...behind],
    };
    const at = before.length + plan.length;
    const ran = answers[at];
    if (!ran?.ok) return { ok: false, failure: failureOf(ran) };
    const counts = [before.length > 0 ? answers[0] : undefined, answers[at + 1]] as const;
    for (const count of counts) {
      if (statement.replacing && !count?.ok) return { ok: false, failure: failureOf(count) };
    }
    const notes = this.#watch ? yield* this.#watch.end() : 0;
    this.ms += ran.figures.ms ?? 0;
    this.#addResult(ran.json, ran.figures.rowsRead);
    this.#returned.add(ran.json);
    const all = ran.figures.changes - (ran.sets ? 0 : notes);
    const ownRows = schemaChange ? null : all === 0 ? 0 : ran.figures.ownRows;
    const { written, removed } = rowsBeside(statement, [numbersIn(counts[0]), numbersIn(counts[1])], {
      changes: all,
      ownOfSets: ran.sets && ran.figures.ownRows,
    });
    const effect = {
      ownRows,
      cascadedRows: all - (ownRows ?? 0) + written + removed,
      plan: planRows(plan.length > 0 ? answers[at - 1] : undefined),
      preview: null,
    };
    return { ok: true, effect, ran: ran.sets?.part.returned.length ?? 1, failure: ran.sets?.failure ?? null };
  }

  /** Adds the rows that the statement has changed. For that it is undone, and run again where another one follows. */
  *#show(
    statement: TenantStatement,
    { effect, hidden }: { readonly effect: StatementEffect; readonly hidden: boolean },
    last: boolean,
  ): Work<EngineFailure | null> {
    const { call: { rowForm }, mostPreviewed } = this.options;
    const { ownRows } = effect;
    // What finds the rows was made without the values that the statement takes; and it runs the statement a second time.
    const shows = !hidden && !statement.takes && !asksChanges(statement.sql) && !this.#room.isUsedUp &&
      this.#mostRows > 0;
    const found = shows && ownRows !== null && ownRows > 0 && ownRows <= mostPreviewed
      ? this.options.targetOf(statementOfRun(this.options.call, this.at))
      : null;
    // Who sends an INSERT has its rows; who decides about it sees them here.
    const target = found?.target.verb === "INSERT" && !this.#isHeld ? null : found;
    this.isShowing = true;
    const preview = target && ownRows !== null
      ? yield* rowPreview({ statement, target, ownRows, rowForm, most: this.#mostRows })
      : null;
    this.isShowing = false;
    this.#addEffect({ ...effect, preview: preview && this.#room.fit(preview) });
    if (last) return null;
    // The next statements of a batch see what this one did.
    const again = target ? [UNDO_EFFECT, this.#callerStep(statement)] : [];
    const answers = yield { steps: [...again, { sql: "RELEASE effect" }] };
    const failed = answers.find(({ ok }) => !ok);
    return failed ? failureOf(failed) : null;
  }

  *#footprint(): Work<Footprint | null> {
    return this.#watch ? yield* this.#watch.footprint() : null;
  }

  /** What a person may have to decide about is watched. */
  get #isHeld(): boolean {
    return this.options.openWatch !== null;
  }

  get #mostRows(): number {
    return Math.min(this.options.mostRows ?? Infinity, this.#isHeld ? HELD_ROWS : PREVIEW_ROWS);
  }

  /** All sets have one result together. */
  #addResult(json: string, rowsRead: number): void {
    const [first] = this.results;
    if (this.options.call.paramSets && first) {
      this.results[0] = { json: "", rowsRead: first.rowsRead + rowsRead };
    } else this.results.push({ json, rowsRead });
  }

  /** All sets have one effect together. */
  #addEffect(effect: StatementEffect): void {
    const [first] = this.effects;
    if (this.options.call.paramSets && first) this.effects[0] = joinEffects(first, effect, this.#mostRows);
    else this.effects.push(effect);
  }

  #callerStep(statement: TenantStatement, paramSets: ParamSets | null = null): CallerStep {
    const { bounds, rowForm, atomic } = this.options.call;
    return {
      statement,
      bounds,
      rowForm: this.#returned.formOf(this.at, rowForm),
      ...(paramSets ? { sets: { paramSets, atomic, rowidOf: null, noted: this.#watch?.noted ?? null } } : {}),
    };
  }
}

type Ran =
  /** `ran`: how many statements or sets. `failure`: of the set behind them. */
  | {
    readonly ok: true;
    readonly effect: StatementEffect;
    readonly ran: number;
    readonly failure: EngineFailure | null;
  }
  | { readonly ok: false; readonly failure: EngineFailure };

function planRows(answer: Answer | undefined): StatementEffect["plan"] {
  return answer?.ok ? answer.rows.map((row) => row.map((value) => jsonValue(value, PLAIN_ROWS))) : [];
}

function changesRows({ ownRows, cascadedRows }: StatementEffect): boolean {
  return ownRows !== 0 || cascadedRows > 0;
}
