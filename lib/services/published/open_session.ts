// Step 9: the session of an endpoint that asks for one. Fields with `$` come from its verified claims and nowhere
// else. While a call runs for long, its session is looked at again.
import { sessionOwner } from "../../access/mint_session.ts";
import { type SessionClaims, verifySession } from "../../access/verify_session.ts";
import { isRevoked } from "../../control/session_keys.ts";
import { AppError } from "../../core/errors.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import { brokenRule } from "../endpoints/spec/validate_input.ts";
import type { PreparedSpec } from "../endpoints/spec/prepare_spec.ts";
import type { EndpointCall, PublishedContext, ResolvedEndpoint } from "./published_context.ts";
import { readValue } from "../endpoints/spec/read_value.ts";

const SCHEME = /^Bearer +([!-~]{1,8192}) *$/i;

/**
 * Null for public endpoints, whatever the request carries. Errors: `session_required`, `session_invalid`,
 * `meter_unreachable`.
 */
export async function openSession(
  { control, clock }: Pick<PublishedContext, "control" | "clock">,
  { record, target }: ResolvedEndpoint,
  headers: Headers,
): Promise<SessionClaims | null> {
  if (record.spec.auth !== "session") return null;
  const authorization = headers.get("authorization");
  if (authorization === null) throw new AppError("session_required");
  const jwt = SCHEME.exec(authorization)?.[1];
  if (jwt === undefined) throw new AppError("session_invalid");
  const checked = await verifySession({ sessionKeys: control.sessionKeys, clock }, target, jwt);
  if (!checked.ok) throw new AppError("session_invalid");
  await requireGoingOn({ control }, target, checked.claims);
  return checked.claims;
}

/** The context for a call under its session: what the call runs for long is stopped when the session has ended. */
export function underOpenSession(
  ctx: PublishedContext,
  { target, session }: Pick<EndpointCall, "target" | "session">,
): PublishedContext {
  if (session === null) return ctx;
  const readmit = async () => {
    const key = await ctx.control.sessionKeys.current(target);
    const isOver = session.expiresSec * 1000 <= ctx.clock.now() || key === null || isRevoked(session, key);
    if (isOver) throw new AppError("session_invalid");
    await requireGoingOn(ctx, target, session);
  };
  return { ...ctx, query: { ...ctx.query, readmit } };
}

/** Errors: `session_invalid` after a log-out. */
async function requireGoingOn(
  { control }: Pick<PublishedContext, "control">,
  target: EndpointCall["target"],
  session: SessionClaims,
): Promise<void> {
  const ended = control.sessionEnds.hasEnded(sessionOwner(target, session), session);
  if (ended instanceof Promise ? await ended : ended) throw new AppError("session_invalid");
}

/**
 * Fills in the session's claims; what follows the values of the inputs stays. Errors: `session_required` where there
 * is none; `session_invalid` for a claim that does not fit its field.
 */
export function fillSession(
  prepared: PreparedSpec,
  bound: readonly SqlParameter[],
  session: SessionClaims | null,
): SqlParameter[] {
  const own = prepared.fields.map((one) => {
    const { field, index, fromSession, absent } = one;
    if (!fromSession) return bound[index] ?? null;
    if (session === null) throw new AppError("session_required");
    const claim = claims[field.name]?.(session) ?? null;
    if (claim === null) {
      if (field.required !== true) return absent;
      throw new AppError("session_invalid", {
        message: `Use a session with the claim email; ${field.name} is required and this session has none`,
      });
    }
    const read = readValue(field.type, claim, "text");
    if (!read.ok) throw doesNotFit(field.name, `does not have the type ${field.type}`);
    const rule = brokenRule(one, read.value, read.length);
    if (rule !== null) throw doesNotFit(field.name, `breaks its rule ${rule}`);
    return read.value;
  });
  return [...own, ...bound.slice(own.length)];
}

function doesNotFit(name: string, fault: string): AppError {
  return new AppError("session_invalid", {
    message: `Log in another way; this session's ${name} ${fault}`,
  });
}

/** The claim behind each field that a session fills. */
const claims: Readonly<Record<string, (session: SessionClaims) => string | number | null>> = {
  "$user_id": ({ userId }) => userId,
  "$user_email": ({ email }) => email,
  "$session_iat": ({ issuedSec }) => issuedSec,
};
