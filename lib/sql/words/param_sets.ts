// Calls whose one statement runs once for each of its parameter sets, counted in runs: a run is a statement of an
// ordinary call, or a parameter set.
import type { SqlParameter } from "./sql_value.ts";

/** Values for each run of one statement, in the order of the runs. */
export type ParamSets = readonly (readonly SqlParameter[])[];

interface Runs<Statement> {
  readonly statements: readonly Statement[];
  /** Absent or null: each statement runs once. */
  readonly paramSets?: ParamSets | null | undefined;
}

/** Counts the runs of a call. */
export function runsOf(
  { statements, paramSets }: {
    readonly statements: { readonly length: number };
    readonly paramSets?: { readonly length: number } | null | undefined;
  },
): number {
  return paramSets?.length ?? statements.length;
}

/** The call with its first `count` runs only. */
export function firstRuns<Statement, Call extends Runs<Statement>>(
  call: Call & Runs<Statement>,
  count: number,
): Call {
  return call.paramSets
    ? { ...call, paramSets: call.paramSets.slice(0, count) }
    : { ...call, statements: call.statements.slice(0, count) };
}

/** The index of the statement that a run belongs to. */
export function statementOfRun({ paramSets }: Pick<Runs<unknown>, "paramSets">, run: number): number {
  return paramSets ? 0 : run;
}
