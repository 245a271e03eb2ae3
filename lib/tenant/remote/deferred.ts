// Which calls on a remote database have to run so that their broken references are counted.
import { DeferredReferences } from "../calls/deferred_references.ts";
import type { TenantCall } from "../tenant_store.ts";
import type { SchemaGate } from "./gate/schema_gate.ts";

/** Null where the call can break no reference of a foreign key that the engine checks at a commit only. */
export function watchDeferred(call: TenantCall, schemaGate: SchemaGate): DeferredReferences | null {
  if (!mayBreak(call, schemaGate)) return null;
  const { level, auditTables } = call;
  return new DeferredReferences({ level, written: JSON.stringify(auditTables ?? []) });
}

/** Whether each statement of the call is checked by itself. */
export function checksEach(call: TenantCall, schemaGate: SchemaGate): boolean {
  return !call.atomic && call.statements.length > 1 && mayBreak(call, schemaGate);
}

function mayBreak(
  { foreignKeysOff, statements }: TenantCall,
  { hasDeferredConstraints }: SchemaGate,
): boolean {
  if (foreignKeysOff) return false;
  return hasDeferredConstraints || statements.some(({ sql }) => /INITIALLY\s+DEFERRED/i.test(sql));
}
