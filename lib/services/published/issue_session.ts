// The session that signup and login answer with.
import { mintSession } from "../../access/mint_session.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";
import { readEmail } from "./read_users.ts";
import { noKey } from "./users_table.ts";

/** Seconds (specification, Limits). */
const DEFAULT_TTL_SEC = 86_400;

/**
 * `key` is the user's primary key as the engine gave it; the claim `email` is what the users table has for it. Errors:
 * `sql_error` for a key that is none, those of the pipeline.
 */
export async function issueSession(
  ctx: Pick<PublishedContext, "control" | "query">,
  call: EndpointCall,
  key: unknown,
): Promise<{ readonly body: string; readonly userId: string }> {
  if ((typeof key !== "string" && typeof key !== "number") || key === "") throw noKey();
  const userId = String(key);
  const email = await readEmail(ctx, call, key);
  const lifetimeSec = call.record.spec.authConfig?.sessionTtlSec ?? DEFAULT_TTL_SEC;
  const session = await mintSession(ctx.control, call.target, {
    ...{ userId, lifetimeSec },
    ...(email === null ? {} : { email }),
  });
  if (session === null) throw new AppError("endpoint_not_found");
  const body = JSON.stringify({ token: session.jwt, expiresAt: isoTime(session.expiresAtMs) });
  return { body, userId };
}
