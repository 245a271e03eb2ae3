// A server says that the disk is full when a table with AUTOINCREMENT has no number left, as the engine inside of it does.
import { USED_UP_TABLES, usedUpFailure } from "../../engine/used_up.ts";
import type { TenantCall, TenantOutcome } from "../tenant_store.ts";
import { rowsAt, runOwn } from "./remote_context.ts";
import { RemoteFailure } from "./hrana/remote_failure.ts";
import type { RemoteTenant } from "./remote_tenant.ts";
import { stringOf } from "./hrana/remote_values.ts";

/** The outcome with the failure by its real name; as it was where the database does not tell. */
export async function unlessUsedUp(
  tenant: RemoteTenant,
  call: TenantCall,
  outcome: TenantOutcome,
): Promise<TenantOutcome> {
  if (outcome.ok !== false || outcome.failure.kind !== "full") return outcome;
  const statements = call.statements.slice(0, outcome.failedIndex + 1)
    .map(({ sql, level }) => ({ sql, changesSchema: level === "schema" }));
  try {
    const { place } = await tenant.place();
    const steps = await runOwn(tenant.context, { place, mode: "read" }, [{ stmt: { sql: USED_UP_TABLES } }]);
    const usedUp = rowsAt(steps, 0).map((row) => stringOf(row[0]));
    const { facts } = (await tenant.schemaGate()).inspect(statements);
    const actions = facts[outcome.failedIndex]?.actions ?? [];
    return { ...outcome, failure: usedUpFailure(outcome.failure, usedUp, actions) };
  } catch (error) {
    if (error instanceof RemoteFailure) return outcome;
    throw error;
  }
}
