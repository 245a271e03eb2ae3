// A call as text, to be run later as it is now.
import type { StatementEffect } from "../tenant/tenant_store.ts";
import type { QueryCall, QueryStatement } from "./query_call.ts";

export interface HeldCall {
  readonly batch: boolean;
  readonly statements: readonly QueryStatement[];
  readonly atomic: boolean;
  readonly integersAsStrings: boolean;
  readonly snapshots: boolean;
  /** What it would have done when it was held, a statement each; empty where that is not known. */
  readonly effects: readonly StatementEffect[];
}

export function writeHeldCall(call: QueryCall, effects: readonly StatementEffect[]): string {
  const held: HeldCall = {
    batch: call.batch,
    statements: call.statements,
    atomic: call.atomic,
    integersAsStrings: call.integersAsStrings,
    snapshots: call.snapshots,
    effects,
  };
  return JSON.stringify(held);
}

/** Guarantee: only text of `writeHeldCall` is ever kept. */
export function readHeldCall(text: string): HeldCall {
  return JSON.parse(text);
}

/** All rows that the statements change, triggers and cascades included; null where a change of the schema hides it. */
export function affectedRows(effects: readonly StatementEffect[]): number | null {
  let rows = 0;
  for (const { ownRows, cascadedRows } of effects) {
    if (ownRows === null) return null;
    rows += ownRows + cascadedRows;
  }
  return effects.length === 0 ? null : rows;
}
