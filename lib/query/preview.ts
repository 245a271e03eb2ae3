// Stage "preview": a dry run of the call, for rules that decide by rows and for the person who decides.
import type { Footprint } from "../engine/footprint/footprint.ts";
import { newSalt } from "../engine/footprint/footprint.ts";
import type { StatementEffect } from "../engine/statement_effect.ts";
import type { TenantOutcome } from "../tenant/tenant_store.ts";
import type { RuleMatch } from "./match_rules.ts";
import { goOn, type Said, START_OVER } from "./pipeline.ts";
import type { QueryCall, QueryContext, UnderstoodCall } from "./query_call.ts";
import { callStore, type EndedOutcome } from "./store_call.ts";

/** A call and the outcome of its dry run. */
export interface Preview {
  readonly understood: UnderstoodCall;
  readonly outcome: EndedOutcome;
}

/**
 * Runs the call as a dry run. Says `start over` where the schema has changed. A failure of the call is part of the
 * outcome. Errors: those of the store.
 */
export async function preview(
  ctx: QueryContext,
  understood: UnderstoodCall,
  { matches, signal }: Pick<QueryCall, "signal"> & { readonly matches: readonly RuleMatch[] },
): Promise<Said<Preview, never>> {
  const previewed = dryForm(watchedForm(understood, matches));
  const outcome = await callStore(ctx, previewed, { ...NOTHING_BESIDE, signal });
  if (outcome.ok === "stale") {
    ctx.facts.seen(understood.call.target.databaseId, outcome.schemaVersion);
    return START_OVER;
  }
  if (outcome.ok !== true && outcome.ok !== false) throw new TypeError("a dry run is not answered as before");
  return goOn({ understood: previewed, outcome });
}

/** Asks for the footprint of a call that a person may have to approve. */
function watchedForm(understood: UnderstoodCall, matches: readonly RuleMatch[]): UnderstoodCall {
  const holding = matches.filter(({ rule }) => rule.effect === "require_approval");
  const { operation, inTransaction, migrations } = understood.call;
  // Migrations are bound to their files and to the schema.
  if (holding.length === 0 || operation === "endpoint" || inTransaction || migrations) return understood;
  const footprint = { salt: newSalt(), each: holding.some(({ rule }) => rule.tolerance > 0), expects: null };
  return { ...understood, call: { ...understood.call, footprint } };
}

/** Makes the dry run, a call of the service's own: it leaves no log row and no stored answer. */
function dryForm(understood: UnderstoodCall): UnderstoodCall {
  const call = { ...understood.call, operation: "service", dryRun: true, replay: null } as const;
  return { ...understood, call };
}

const NOTHING_BESIDE = { replay: null, snapshot: null } as const;

/** The effect of each statement; empty where none is known, such as when the time is up. */
export function effectsOf(outcome: EndedOutcome): readonly StatementEffect[] {
  if (outcome.ok) return outcome.results.flatMap(({ effect }) => effect ?? []);
  return outcome.failure.kind === "timeout" ? [] : outcome.effects ?? [];
}

/**
 * The footprint of a dry run, with which a later run is compared. Of a dry run that did not
 * come to its end only the tables are known; undefined where the footprint was not asked for.
 */
export async function findFootprint(
  ctx: QueryContext,
  { understood, outcome }: Preview,
): Promise<Footprint | undefined> {
  const found = footprintOf(outcome);
  if (found || understood.call.footprint === null) return found;
  const tablesRun = await callStore(ctx, dryForm(understood), { ...NOTHING_BESIDE, tablesOnly: true });
  // The tables may have changed since the dry run; then an empty digest matches none.
  const { salt, tables } = footprintOf(tablesRun) ?? { salt: understood.call.footprint.salt, tables: "" };
  return { salt, tables, rows: null };
}

function footprintOf(outcome: TenantOutcome): Footprint | undefined {
  return outcome.ok === true || outcome.ok === false ? outcome.footprint : undefined;
}
