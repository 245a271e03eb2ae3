// Sends the request that commits a transaction, and reads whether it did.
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import type { RemoteConnection } from "../connection/remote_connection.ts";
import { withDeadline } from "../hrana/deadline.ts";
import type { BatchAnswer } from "../hrana/hrana.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";
import { integerOf } from "../hrana/remote_values.ts";
import { stepFailure } from "../hrana/step_failure.ts";
import type { PooledStream } from "../hrana/stream_pool.ts";
import { OWN_TIMEOUT_MS } from "../server/remote_context.ts";
import type { CommitSteps } from "./record_steps.ts";
import { undo } from "./undo.ts";

type CommitEnd =
  | { readonly k: "committed" }
  | { readonly k: "refused"; readonly failure: EngineFailure }
  /** Whether it was committed has to be looked up. */
  | { readonly k: "lost" };

/**
 * Goes out once. Unless the engine itself answers, nobody knows whether the commit was made: a refusal may be the answer
 * to a copy of the request. Throws `RemoteFailure` where it was not sent at all.
 */
export async function sendCommit(
  connection: RemoteConnection,
  commit: CommitSteps,
  { baton, stream = null }: { readonly baton: string | null; readonly stream?: PooledStream | null },
): Promise<CommitEnd> {
  const request = { steps: commit.steps, baton, close: stream === null };
  const send = (signal: AbortSignal) => connection.send("write", request, { signal, once: true });
  let answer: BatchAnswer;
  try {
    answer = await withDeadline(OWN_TIMEOUT_MS, [], send);
  } catch (error) {
    if (error instanceof RemoteFailure && error.reason === "not_sent") throw error;
    return { k: "lost" };
  }
  if (stream !== null && answer.steps[commit.commit]?.ok) stream.baton = answer.baton;
  else await undo(connection, answer.baton);
  return await readCommit(connection, commit, answer);
}

async function readCommit(
  connection: RemoteConnection,
  { commit, version }: CommitSteps,
  { steps }: BatchAnswer,
): Promise<CommitEnd> {
  if (steps[commit]?.ok) {
    const known = steps[version];
    if (known?.ok) await connection.seen(integerOf(known.rows[0]?.[0]));
    else connection.forgetSchema();
    return { k: "committed" };
  }
  const error = steps.find((step) => step?.ok === false);
  if (error?.ok !== false || error.code.startsWith("TRANSACTION_TIMEOUT")) return { k: "lost" };
  return { k: "refused", failure: stepFailure(error) };
}
