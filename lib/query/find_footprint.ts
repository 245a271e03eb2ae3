// What a dry run tells of the rows that its call changes, so that a later run can be compared with it.
import type { Footprint } from "../engine/footprint/footprint.ts";
import type { TenantOutcome } from "../tenant/tenant_store.ts";
import { execute } from "./execute.ts";
import type { QueryContext, UnderstoodCall } from "./query_call.ts";

/** As which the service looks at a call before it runs: it leaves no log row, and no kept answer. */
export function dryForm(understood: UnderstoodCall): UnderstoodCall {
  const call = { ...understood.call, operation: "service", dryRun: true, replay: null } as const;
  return { ...understood, call };
}

export const NOTHING_BESIDE = { failsWith: null, replay: null, snapshot: null } as const;

/** Of one that did not come to its end only the tables are known; undefined where nobody has asked. */
export async function findFootprint(
  ctx: QueryContext,
  understood: UnderstoodCall,
  outcome: TenantOutcome,
): Promise<Footprint | undefined> {
  const found = footprintOf(outcome);
  if (found || understood.call.footprint === null) return found;
  const looked = await execute(ctx, dryForm(understood), { ...NOTHING_BESIDE, tablesOnly: true });
  // Where the tables keep changing, none are those that were looked at.
  const { salt, tables } = footprintOf(looked) ?? { salt: understood.call.footprint.salt, tables: "" };
  return { salt, tables, rows: null };
}

function footprintOf(outcome: TenantOutcome): Footprint | undefined {
  return outcome.ok === true || outcome.ok === false ? outcome.footprint : undefined;
}
