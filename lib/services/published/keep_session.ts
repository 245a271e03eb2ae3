// Kinds `auth_logout` and `auth_refresh`: a session ends before its time, or goes on behind it.
import { sessionOwner } from "../../access/mint_session.ts";
import { MAX_SESSION_SEC } from "../../core/limits.ts";
import { AppError } from "../../core/errors.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import { DONE } from "../endpoints/spec/outputs.ts";
import { ownSession } from "./change_password.ts";
import { inputIndex } from "./input_values.ts";
import { lifetimeSec, mint } from "./issue_session.ts";
import type { EndpointCall, EndpointOutcome, PublishedContext } from "./published_context.ts";
import { runOwn } from "./run_for_endpoint.ts";

/** Seconds from a log-in until its session can be refreshed no more, unless the specification says otherwise. */
const DEFAULT_TOTAL_SEC = 30 * 86_400;

/**
 * Ends the session of the call with all that it was refreshed from or to, or with the input `all` every session of its
 * user. Errors: `session_required`, `meter_unreachable`.
 */
export async function logOut(
  { control: { sessionEnds } }: PublishedContext,
  { record: { spec }, target, session }: EndpointCall,
  bound: readonly SqlParameter[],
): Promise<EndpointOutcome> {
  if (session === null) throw new AppError("session_required");
  const { userId, sessionId, beganSec, expiresSec } = session;
  const owner = sessionOwner(target, session);
  if (bound[inputIndex(spec, "all")] === 1) await sessionEnds.endAll(owner);
  else {
    // Another of its tokens may live longer than this one.
    const untilSec = Math.max(expiresSec, beganSec + MAX_SESSION_SEC);
    await sessionEnds.end(owner, { sessionId, untilMs: untilSec * 1000 });
  }
  return { body: DONE, userId, meta: null };
}

/**
 * Answers the same session with a later end, while its user is there, the password is the same and the total has not
 * passed. Errors: `session_invalid`, those of the pipeline.
 */
export async function refreshSession(ctx: PublishedContext, call: EndpointCall): Promise<EndpointOutcome> {
  const { spec } = call.record;
  const session = ownSession(call);
  const { userId, email, users, passwordMark, beganSec } = session;
  // Whoever minted it has said how long it lives.
  if (users === null) {
    throw new AppError("session_invalid", {
      message: "Have your server mint another session; it made this one",
    });
  }
  const { meta } = await runOwn(ctx, call, { sql: "SELECT 1", params: [] }, "endpoint");
  const totalSec = spec.authConfig?.sessionTotalSec ?? DEFAULT_TOTAL_SEC;
  const untilSec = beganSec + totalSec;
  if (untilSec * 1000 <= ctx.clock.now()) throw new AppError("session_invalid");
  const issued = await mint(ctx, call, {
    userId,
    lifetimeSec: lifetimeSec(spec),
    users,
    ...(email === null ? {} : { email }),
    ...(passwordMark === null ? {} : { passwordMark }),
    continues: { ...session, untilSec },
  });
  return { ...issued, meta };
}
