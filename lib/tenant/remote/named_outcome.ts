// A server says that the disk is full when a table with AUTOINCREMENT has no number left, as the engine inside of it does.
import { unlessUsedUp } from "../calls/used_up.ts";
import { awaitWork } from "../calls/work.ts";
import type { TenantCall, TenantOutcome } from "../tenant_store.ts";
import { answerAsk } from "./answer_ask.ts";
import { runOwn } from "./remote_context.ts";
import { RemoteFailure } from "./hrana/remote_failure.ts";
import type { RemoteTenant } from "./remote_tenant.ts";

/** The outcome with the failure by its real name; as it was where the database does not tell. */
export async function namedOutcome(
  tenant: RemoteTenant,
  call: TenantCall,
  outcome: TenantOutcome,
): Promise<TenantOutcome> {
  if (outcome.ok !== false || outcome.failure.kind !== "full") return outcome;
  const statements = call.statements.slice(0, outcome.failedIndex + 1)
    .map(({ sql, level }) => ({ sql, changesSchema: level === "schema" }));
  try {
    const { location } = await tenant.located();
    const schemaGate = await tenant.schemaGate();
    const actions = () => schemaGate.inspect(statements).facts[outcome.failedIndex]?.actions ?? [];
    const failure = await awaitWork(
      unlessUsedUp(outcome.failure, actions),
      (ask) => answerAsk((steps) => runOwn(tenant.context, { location, mode: "read" }, steps), ask),
    );
    return { ...outcome, failure };
  } catch (error) {
    if (error instanceof RemoteFailure) return outcome;
    throw error;
  }
}
