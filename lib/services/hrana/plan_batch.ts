// What the steps of a batch have in common, so that as many as possible are one call of the pipeline. Pure.
import type { DoorStatement } from "./door_statement.ts";
import type { WireCondition } from "./hrana_types.ts";

/** A step of a batch. */
export interface DoorStep {
  readonly statement: DoorStatement;
  /** Null: it runs whatever became of the others. */
  readonly condition: WireCondition | null;
}

/** A batch that is one transaction from its beginning to its end: nothing of it stays unless all of it does. */
export interface WholeTransaction {
  readonly mode: "deferred" | "immediate" | "exclusive" | "readonly";
  /** Indexes of the steps that run as one call, in order. */
  readonly inner: readonly number[];
  /** Indexes of BEGIN and COMMIT, and of ROLLBACK where there is one. */
  readonly begin: number;
  readonly commit: number;
  readonly rollback: number | null;
  /** Steps behind it, which set foreign keys back to what they are here for every call. */
  readonly behind: readonly number[];
}

/**
 * Finds the form in which clients send a transaction: `PRAGMA foreign_keys=off` if at all, BEGIN, steps each on condition
 * of the one before, COMMIT on condition of the last, ROLLBACK where COMMIT has not run, `PRAGMA foreign_keys=on`.
 * `mayStayOpen`: a batch without ROLLBACK counts too, because the stream ends behind it. Null: it is another batch.
 */
export function wholeTransaction(
  steps: readonly DoorStep[],
  mayStayOpen: boolean,
): WholeTransaction | null {
  const inner: number[] = [];
  let at = 0;
  if (setsForeignKeys(steps[at], "off") && steps[at]?.condition === null) inner.push(at++);
  const begin = at;
  const first = steps[at++];
  const control = first?.statement.text.control;
  if (control?.verb !== "begin" || !mayFollow(first, begin - 1)) return null;
  while (steps[at] && !steps[at]?.statement.text.control && isChained(steps[at], at - 1)) inner.push(at++);
  const commit = at++;
  if (steps[commit]?.statement.text.control?.verb !== "commit" || !isChained(steps[commit], commit - 1)) {
    return null;
  }
  const undoes = steps[at]?.statement.text.control?.verb === "rollback" &&
    isElse(steps[at], { begin, commit });
  if (!undoes && !mayStayOpen) return null;
  const rollback = undoes ? at++ : null;
  const behind: number[] = [];
  if (setsForeignKeys(steps[at], "on") && steps[at]?.condition === null) behind.push(at++);
  return at === steps.length ? { mode: control.mode, inner, begin, commit, rollback, behind } : null;
}

/**
 * Whether the last step only asks whether a transaction is open behind the others: `SELECT 1` on condition of `is_autocommit`,
 * of whose rows none are wanted. @tursodatabase/serverless sends it behind every statement and every batch.
 */
export function endsWithProbe(steps: readonly DoorStep[]): boolean {
  const last = steps.at(-1);
  return steps.length > 1 && last?.condition?.type === "is_autocommit" && !last.statement.wantsRows &&
    /^\s*SELECT\s+1\s*$/i.test(last.statement.sql);
}

/** Steps from `at` on that are one call. */
export interface StepGroup {
  /** Behind the last of them. */
  readonly end: number;
  /** Whether a failure stops those behind it; otherwise they run all the same. */
  readonly chained: boolean;
}

/** The longest run of steps that share their fate, or have nothing to do with each other. */
export function stepGroup(steps: readonly DoorStep[], at: number): StepGroup {
  const isPlain = (step: DoorStep | undefined) => step !== undefined && step.statement.text.control === null;
  const second = steps[at + 1];
  const chained = isPlain(second) && isChained(second, at);
  let end = at + 1;
  while (isPlain(steps[end]) && (chained ? isChained(steps[end], end - 1) : steps[end]?.condition === null)) {
    end++;
  }
  return { end, chained };
}

/** Whether the step runs only if the step `before` has succeeded, and, in a transaction, always then. */
function isChained(step: DoorStep | undefined, before: number): boolean {
  const condition = step?.condition ?? null;
  if (condition === null) return false;
  if (condition.type !== "and") return isOk(condition, before);
  return condition.conds.some((one) => isOk(one, before)) &&
    condition.conds.every((one) => isOk(one, before) || isInTransaction(one));
}

function mayFollow(step: DoorStep | undefined, before: number): boolean {
  return step?.condition === null || (before >= 0 && isChained(step, before));
}

/** Whether the step runs exactly where the step `commit` has not succeeded, behind a BEGIN that has. */
function isElse(
  step: DoorStep | undefined,
  { begin, commit }: { readonly begin: number; readonly commit: number },
): boolean {
  const condition = step?.condition ?? null;
  if (condition === null) return false;
  const all = condition.type === "and" ? condition.conds : [condition];
  return all.some((one) => isNotOk(one, commit)) &&
    all.every((one) => isNotOk(one, commit) || isOk(one, begin) || isInTransaction(one));
}

function isOk(condition: WireCondition, step: number): boolean {
  return condition.type === "ok" && condition.step === step;
}

function isNotOk(condition: WireCondition, step: number): boolean {
  return condition.type === "not" && isOk(condition.cond, step);
}

function isInTransaction(condition: WireCondition): boolean {
  return condition.type === "not" && condition.cond.type === "is_autocommit";
}

function setsForeignKeys(step: DoorStep | undefined, to: "on" | "off"): boolean {
  const read = step?.statement.text.read;
  const pragma = read?.ok ? read.syntax.pragma : null;
  return pragma?.name === "foreign_keys" && pragma.sets && pragma.foreignKeysOff === (to === "off");
}
