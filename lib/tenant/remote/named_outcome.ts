// A server says that the disk is full when a table with AUTOINCREMENT has no number left, as the engine inside of it does.
import { unlessUsedUp } from "../calls/used_up.ts";
import { awaitWork } from "../calls/work.ts";
import type { TenantCall, TenantOutcome } from "../tenant_store.ts";
import { answerAsk } from "./answer_ask.ts";
import { RemoteFailure } from "./hrana/remote_failure.ts";
import type { RemoteConnection } from "./remote_connection.ts";

/** The outcome with the failure by its real name; as it was where the database does not tell. */
export async function namedOutcome(
  connection: RemoteConnection,
  call: TenantCall,
  outcome: TenantOutcome,
): Promise<TenantOutcome> {
  if (outcome.ok !== false || outcome.failure.kind !== "full") return outcome;
  const statements = call.statements.slice(0, outcome.failedIndex + 1)
    .map(({ sql, level }) => ({ sql, changesSchema: level === "schema" }));
  try {
    const schemaGate = await connection.schemaGate();
    const actions = () => schemaGate.inspect(statements).facts[outcome.failedIndex]?.actions ?? [];
    const failure = await awaitWork(
      unlessUsedUp(outcome.failure, actions),
      (ask) => answerAsk((steps) => connection.runOwn("read", steps), ask),
    );
    return { ...outcome, failure };
  } catch (error) {
    if (error instanceof RemoteFailure) return outcome;
    throw error;
  }
}
