// Stage "snapshot": the snapshot before a destructive statement. Its label is chosen here; the store takes it in the
// write slot, so that it holds exactly the state before the call.
import type { Clock } from "../core/clock.ts";
import type { StatementFacts } from "../sql/grammar/statement_facts.ts";
import type { QueryContext, UnderstoodCall } from "./query_call.ts";

/** Characters of the table's name that a label carries. */
const MAX_TABLE_LENGTH = 64;

let lastMs = 0;
/** Milliseconds by which labels may be ahead of the clock. If they are further ahead, the clock was put back. */
const AHEAD_MS = 10_000;

/**
 * Chooses the label; null where no snapshot is taken, such as for a dry run. A batch has one, named after its first
 * destructive statement, or after its first write where whoever approved it wants one in any case.
 */
export function chooseSnapshot(ctx: QueryContext, { call, facts }: UnderstoodCall): string | null {
  const always = call.snapshotFirst === true;
  if (call.dryRun || !(call.snapshots || always)) return null;
  const named = facts.find((one) => one.destructive) ?? (always ? facts.find(writes) : undefined);
  return named === undefined ? null : autoLabel(ctx.clock, named.verb, tableOf(named));
}

function writes({ class: kind }: StatementFacts): boolean {
  return kind === "write" || kind === "schema";
}

/** The table that the statement names. Where it drops an index or a trigger, the engine knows the table. */
function tableOf({ class: kind, target, tablesWritten }: StatementFacts): string {
  const named = target?.toLowerCase();
  if (kind !== "schema" || tablesWritten.some((table) => table.toLowerCase() === named)) {
    return target ?? tablesWritten[0] ?? "schema";
  }
  return tablesWritten[0] ?? target ?? "schema";
}

/** `auto-20261120T224512123Z-drop-orders`; never twice the same in one process. */
export function autoLabel(clock: Clock, verb: string, table: string): string {
  return `auto-${labelTime(clock)}-${verb}-${table.replaceAll(/\W/g, "_").slice(0, MAX_TABLE_LENGTH)}`;
}

/** The time as a part of a label; never twice the same in one process. */
export function labelTime(clock: Clock): string {
  const nowMs = clock.now();
  lastMs = lastMs - nowMs > AHEAD_MS ? nowMs : Math.max(nowMs, lastMs + 1);
  return new Date(lastMs).toISOString().replaceAll(/[-:.]/g, "");
}
