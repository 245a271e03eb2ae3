// Calls that wait, how they are answered, and which of them have to run by themselves or with care.
import { runsOf } from "../../../sql/words/param_sets.ts";
import { DeferredReferences } from "../../calls/deferred_references.ts";
import { takesValues } from "../../calls/returned_rows.ts";
import type { TenantCall, TenantOutcome } from "../../tenant_store.ts";
import { mayDefer, type SchemaGate } from "../gate/schema_gate.ts";

/** A call that somebody waits for. */
export interface AskedCall {
  readonly call: TenantCall;
  /** Of `call.signal`, asked for once. */
  readonly signal: AbortSignal | null;
}

/** Milliseconds in which a call's caller may leave before anybody looks: most calls have ended then. */
const LOOK_AFTER_MS = 100;

/** The call, and how it is known whether somebody still waits for it. */
export function asked(call: TenantCall): AskedCall {
  return { call, signal: call.signal(LOOK_AFTER_MS) };
}

/** One that waits for the write slot, with how it is answered. */
export interface CallJob extends AskedCall {
  readonly resolve: (outcome: TenantOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Whether the call needs a transaction of its own. */
export function travelsAlone(
  { level, foreignKeysOff, snapshot, dryRun, affected, paramSets, statements }: TenantCall,
): boolean {
  return level === "schema" || foreignKeysOff || snapshot !== null || dryRun === true || Boolean(affected) ||
    Boolean(paramSets) || takesValues(statements);
}

/** Counts the references that the call breaks and the engine checks at a commit only; null where it can break none. */
export function watchDeferred(call: TenantCall, schemaGate: SchemaGate): DeferredReferences | null {
  if (!mayBreak(call, schemaGate)) return null;
  const { level, auditTables } = call;
  return new DeferredReferences({ level, written: JSON.stringify(auditTables ?? []) });
}

/** Whether the statements of the call have to be asked one by one. */
export function runsApart(call: TenantCall, schemaGate: SchemaGate): boolean {
  return checksEach(call, schemaGate) || Boolean(call.footprint) || Boolean(call.paramSets) ||
    Boolean(call.migration) || takesValues(call.statements);
}

/** Whether such references are to be counted after each statement of the call. */
export function checksEach(call: TenantCall, schemaGate: SchemaGate): boolean {
  return !call.atomic && runsOf(call) > 1 && mayBreak(call, schemaGate);
}

function mayBreak(
  { foreignKeysOff, statements }: TenantCall,
  { hasDeferredConstraints }: SchemaGate,
): boolean {
  if (foreignKeysOff) return false;
  return hasDeferredConstraints || statements.some(({ sql }) => mayDefer(sql));
}
