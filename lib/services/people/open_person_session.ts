// Opens a session of the console for a person who has proved who it is. How they proved it is not its concern.
import { DAY_MS, HOUR_MS } from "../../core/clock.ts";
import { csrfTokenOf, newSessionSecret, sessionHash } from "../../access/authenticate_session.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { AuthContext } from "../../access/authenticate.ts";
import type { SessionOwner } from "../../store/people_records.ts";
import { type Also, nothingElse } from "../../store/until_committed.ts";

/** A session to open. */
export interface PersonSession {
  readonly owner: SessionOwner;
  /** `epoch` of the member when it proved who it is; null for the operator. */
  readonly provedEpoch: number | null;
  /** `User-Agent` of the browser, as it came. */
  readonly agent: string | null;
  /** The value of the cookie that the browser had: that session ends. */
  readonly replaced: string | null;
  /** What is to happen with it, or not at all. */
  readonly also?: Also<[sessionId: string]>;
}

/** A session as its browser gets it. */
export interface OpenedSession {
  /** `ses_…`. */
  readonly sessionId: string;
  /** The cookie's value; it is nowhere else. */
  readonly secret: string;
  readonly csrfToken: string;
  /** When it ends at the latest, unix milliseconds. */
  readonly untilMs: number;
}

/** Milliseconds that a session lasts at most: whoever holds the operator key may do everything everywhere. */
const LONGEST_MS = { member: 7 * DAY_MS, operator: HOUR_MS } as const;
const MAX_AGENT_LENGTH = 200;

/** Errors: `session_ended` when the member is gone or has changed meanwhile; `meter_unreachable`. */
export async function openPersonSession(
  { control, clock, operatorKeyHash }: AuthContext,
  { owner, provedEpoch, agent, replaced, also = nothingElse }: PersonSession,
): Promise<OpenedSession> {
  const nowMs = clock.now();
  const secret = newSessionSecret();
  const session = {
    id: newId("ses", nowMs),
    owner,
    createdAt: nowMs,
    signedInAt: nowMs,
    untilMs: nowMs + LONGEST_MS[owner.kind],
    agent: (agent ?? "").slice(0, MAX_AGENT_LENGTH),
  };
  const before = replaced === null ? null : sessionHash(replaced);
  const options = { operatorKeyHash, replaced: before, provedEpoch, also };
  if (!await control.consoleSessions.add(sessionHash(secret), session, options)) {
    throw new AppError("session_ended");
  }
  return { sessionId: session.id, secret, csrfToken: csrfTokenOf(secret), untilMs: session.untilMs };
}
