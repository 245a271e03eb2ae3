// The session that signup and login answer with.
import { mintSession } from "../../access/mint_session.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";

/** Seconds (specification, Limits). */
const DEFAULT_TTL_SEC = 86_400;

/** `key` is the user's primary key as the engine gave it. Errors: `sql_error` for a key that is none. */
export async function issueSession(
  { control }: Pick<PublishedContext, "control">,
  { record, target }: EndpointCall,
  { key, email }: { readonly key: unknown; readonly email: string },
): Promise<{ readonly body: string; readonly userId: string }> {
  if ((typeof key !== "string" && typeof key !== "number") || key === "") {
    throw noKey();
  }
  const userId = String(key);
  const lifetimeSec = record.spec.authConfig?.sessionTtlSec ?? DEFAULT_TTL_SEC;
  const session = await mintSession(control, target, { userId, email, lifetimeSec });
  if (session === null) throw new AppError("endpoint_not_found");
  const body = JSON.stringify({ token: session.jwt, expiresAt: isoTime(session.expiresAtMs) });
  return { body, userId };
}

export function noKey(): AppError {
  return new AppError("sql_error", {
    message: "Tell the owner of this endpoint; its statement gives no primary key",
  });
}
