// The session that signup and login answer with.
import { EMAIL_COLUMN, mintSession } from "../../access/mint_session.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";
import { readEmail, readUsers } from "./read_users.ts";
import { noKey } from "./users_table.ts";

/** Seconds (specification, Limits). */
const DEFAULT_TTL_SEC = 86_400;

/**
 * `key` is the user's primary key as the engine gave it; the claim `email` is what the users table has for it, and the
 * session lives while it has. Errors: `sql_error` for a key that is none, those of the pipeline.
 */
export async function issueSession(
  ctx: Pick<PublishedContext, "control" | "query">,
  call: EndpointCall,
  key: unknown,
): Promise<{ readonly body: string; readonly userId: string }> {
  if ((typeof key !== "string" && typeof key !== "number") || key === "") throw noKey();
  const userId = String(key);
  const email = await readEmail(ctx, call, key);
  const { authConfig } = call.record.spec;
  const lifetimeSec = authConfig?.sessionTtlSec ?? DEFAULT_TTL_SEC;
  const { table } = await readUsers(ctx, call);
  const users = { table, emailColumn: authConfig?.emailColumn ?? EMAIL_COLUMN };
  const session = await mintSession(ctx.control, call.target, {
    ...{ userId, lifetimeSec, users },
    ...(email === null ? {} : { email }),
  });
  if (session === null) throw new AppError("endpoint_not_found");
  const body = JSON.stringify({ token: session.jwt, expiresAt: isoTime(session.expiresAtMs) });
  return { body, userId };
}
