// The session that sign-up, log-in, a changed password and a refresh answer with.
import { EMAIL_COLUMN, mintSession, type NewSession } from "../../access/mint_session.ts";
import { passwordMark } from "../../access/password_hash.ts";
import { isoTime } from "../../core/clock.ts";
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { AppError } from "../../core/errors.ts";
import { noKey } from "../endpoints/spec/users_table.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";
import { readEmail, readUsers } from "./read_users.ts";

/** Seconds that a session lives unless the specification says otherwise. */
const DEFAULT_TTL_SEC = 86_400;

/** Who the session is for: the key as the engine gave it, and the hash of the password that was proved or set. */
export interface SessionUser {
  readonly key: unknown;
  readonly hash: string | null;
}

/** A body and whose it is. */
export interface IssuedSession {
  readonly body: string;
  readonly userId: string;
}

/**
 * The claim `email` is what the users table has for that key; the session ends when the table has another, or another
 * hash. Errors: `sql_error` for a value that is no key, those of the pipeline.
 */
export async function issueSession(
  ctx: Pick<PublishedContext, "control" | "query">,
  call: EndpointCall,
  { key, hash }: SessionUser,
): Promise<IssuedSession> {
  if ((typeof key !== "string" && typeof key !== "number") || key === "") throw noKey();
  const userId = String(key);
  const email = await readEmail(ctx, call, key);
  const mark = passwordMark(hash);
  const { authConfig } = call.record.spec;
  const { table } = await readUsers(ctx, call);
  const users = { table, emailColumn: authConfig?.emailColumn ?? EMAIL_COLUMN };
  return await mint(ctx, call, {
    userId,
    lifetimeSec: lifetimeSec(call.record.spec),
    users,
    ...(email === null ? {} : { email }),
    ...(mark === null ? {} : { passwordMark: mark }),
  });
}

/** Seconds that a session of this endpoint lives. */
export function lifetimeSec({ authConfig }: EndpointSpec): number {
  return authConfig?.sessionTtlSec ?? DEFAULT_TTL_SEC;
}

/** Errors: `endpoint_not_found` when the database is gone, `meter_unreachable`. */
export async function mint(
  { control }: Pick<PublishedContext, "control">,
  call: EndpointCall,
  session: NewSession,
): Promise<IssuedSession> {
  const minted = await mintSession(control, call.target, session);
  if (minted === null) throw new AppError(session.continues ? "session_invalid" : "endpoint_not_found");
  const body = JSON.stringify({ token: minted.jwt, expiresAt: isoTime(minted.expiresAtMs) });
  return { body, userId: session.userId };
}
