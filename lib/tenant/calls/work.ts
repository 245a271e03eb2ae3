// Work on one call yields what it asks of the database: an engine child answers at once, a remote store over the network.
// So a call means the same in every store.
import type { EngineFailure } from "../../engine/engine_failure.ts";
import type { Level } from "../../engine/guard.ts";
import type { ParamSets } from "../../sql/words/param_sets.ts";
import type { SetsPart } from "./sets_result.ts";
import type { EngineValue, SqlParameter } from "../../sql/words/sql_value.ts";
import type { TenantCall } from "../tenant_store.ts";
import type { TenantStatement } from "../tenant_statement.ts";

/** A statement of the service's own, whose rows are asked for. */
export interface OwnStep {
  readonly sql: string;
  readonly params?: readonly SqlParameter[];
  /** Set where a caller's text is part of it: what the connection then allows. */
  readonly level?: Level;
  /** At most so many of its rows are wanted. */
  readonly most?: number;
}

/** A statement of the caller's, whose result is asked for as JSON, within bounds. */
export interface CallerStep extends Pick<TenantCall, "bounds" | "rowForm"> {
  readonly statement: TenantStatement;
  /** Set where it runs once for each of many parameter sets, up to the first that fails. */
  readonly sets?: SetsAsk;
}

/** Parameter sets of a statement. `atomic`: a failure undoes them all; otherwise those before the failed one stay. */
export interface SetsAsk extends Pick<TenantCall, "atomic"> {
  readonly paramSets: ParamSets;
  readonly rowidOf: string | null;
  /** SQL of the number of notes so far, where the engine counts them as changes: they are none of a set. */
  readonly noted?: string | null;
  /** Called by a store that may be stopped between the sets, with how many of them have run. */
  readonly done?: (sets: number) => void;
}

export type Step = OwnStep | CallerStep;

/** One request. Each step runs, whatever has become of those before it. */
export interface Ask {
  /** Statements that end earlier work; their answers are not wanted. */
  readonly before?: readonly string[];
  /** Opened before the first step and left open: the steps may be undone and sent once more. */
  readonly savepoint?: "effect" | "statement";
  readonly steps: readonly Step[];
}

/** What the engine has counted of a caller's statement. */
export interface StepFigures {
  readonly rowsRead: number;
  /** Milliseconds in the engine; null where its whole call is timed. */
  readonly ms: number | null;
  /** Rows changed, by triggers and cascades too. */
  readonly changes: number;
  /** Rows that the statement itself changed, where it changed any. */
  readonly ownRows: number;
}

export type Answer =
  | {
    readonly ok: true;
    readonly rows: readonly (readonly EngineValue[])[];
    /** Of a caller's statement; `{"columns":[…],"rows":[…]` without the closing brace. */
    readonly json: string;
    readonly figures: StepFigures;
    /** Of a step with sets, in place of `json`. */
    readonly sets?: SetsAnswer;
  }
  /** `figures` of a statement that has run to where it failed; `tooLarge`: to its end, but its result passes a bound. */
  | {
    readonly ok: false;
    readonly failure: EngineFailure;
    readonly figures: StepFigures;
    readonly tooLarge?: boolean;
  };

/** What sets have done. `failure`: why the set behind the last one in `part` has failed; null where all have run. */
export interface SetsAnswer {
  readonly part: SetsPart;
  readonly failure: EngineFailure | null;
  /** The failed set and some behind it ran to their end, because its rows were seen to pass a bound only after that. */
  readonly tooLarge?: boolean;
}

export const noStepFigures: StepFigures = { rowsRead: 0, ms: null, changes: 0, ownRows: 0 };

/** Yields what it asks and is given the answers, one for each step, integers as bigint. */
export type Work<T> = Generator<Ask, T, readonly Answer[]>;

/** Work that is done already. */
export function* done<T>(value: T): Work<T> {
  yield* [];
  return value;
}

/** Rows of one statement of the service's own; null where it fails. */
export function* rowsOrNull(step: OwnStep): Work<readonly (readonly EngineValue[])[] | null> {
  const [answer] = yield { steps: [step] };
  return answer?.ok ? answer.rows : null;
}

/** The step that asks a text of the service's own, where there is one. */
export function stepOf(sql: string | null): OwnStep[] {
  return sql === null ? [] : [{ sql }];
}

/** The numbers in the only row; undefined where nothing was asked, or it has failed. */
export function numbersIn(answer: Answer | undefined): readonly number[] | undefined {
  return answer?.ok ? answer.rows[0]?.map(Number) : undefined;
}

/** The failure of a step that is known to have failed. */
export function failureOf(answer: Answer | undefined): EngineFailure {
  if (!answer || answer.ok) throw new TypeError("no step has failed");
  return answer.failure;
}
