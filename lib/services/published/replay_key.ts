// Mutations that may be sent again: the name under which the first answer is kept.
import { replayScope, requireReplayKey } from "../../access/replay_scope.ts";
import type { SessionClaims } from "../../access/verify_session.ts";
import { invalidInput } from "../../core/errors.ts";
import type { CallReplay } from "../../query/query_call.ts";
import type { RowForm } from "../../sql/words/row_form.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import type { PublishedRequest, ResolvedEndpoint } from "./published_context.ts";

/** Strangers share the keys of an endpoint without sessions: a shorter one could be somebody else's. */
const MIN_SHARED_LENGTH = 16;
const HEADER = "Idempotency-Key";

/** What a repetition must have in common with the first call. */
interface RepeatedCall {
  readonly session: SessionClaims | null;
  /** What the caller sent, without the fields of the session: a new log-in changes those. */
  readonly values: readonly SqlParameter[];
  readonly rowForm: RowForm;
}

/**
 * By the session's user, or without a session by the endpoint. Null: the call has no key. Errors: `validation_failed`
 * naming the header.
 */
export function replayOf(
  { record: { spec }, target: { databaseId } }: ResolvedEndpoint,
  { headers }: Pick<PublishedRequest, "headers">,
  { session, values, rowForm }: RepeatedCall,
): CallReplay | null {
  const key = headers.get(HEADER);
  if (key === null || spec.kind !== "mutation") return null;
  requireReplayKey(HEADER, key);
  if (session === null && key.length < MIN_SHARED_LENGTH) {
    throw invalidInput(
      HEADER,
      `Send at least ${MIN_SHARED_LENGTH} characters, random ones; callers without a session share the keys`,
    );
  }
  const scope = ["endpoint", databaseId, spec.slug, ...callerWords(session), key];
  // The statement is a part of the content, not of the name: where its owner has put another behind the address, the key
  // neither runs a second time nor brings back what the earlier statement showed.
  const content = [spec.sql, spec.input.map(({ name }) => name), values, rowForm.integersAsStrings];
  return { idempotency: replayScope(scope, JSON.stringify(content)), plan: null };
}

/**
 * Who the caller is, as parts of a scope. A users table may give a deleted user's key to the next one, so a user is the key and the
 * address together, as for the session itself.
 */
function callerWords(session: SessionClaims | null): readonly string[] {
  if (session === null) return ["anybody"];
  const { users, userId, email } = session;
  return users === null ? ["user", "", userId] : ["user", users.table, userId, email ?? ""];
}
