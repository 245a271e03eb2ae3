// Hands out the token that runs previewed writes once, as they were previewed.
import { newToken, tokenHash } from "../../access/token_format.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { chosenSec } from "../../core/limits.ts";
import { writeHeldCall } from "../../query/held_call.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import type { Previewed } from "./preview_writes.ts";

/** A token that runs the previewed call once. */
export interface Execution {
  /** `pmut_…`, pinned to the caller and the database. */
  readonly executionToken: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** How long the token lives, and how many rows its call may change at most; absent: any number. */
export interface ExecutionBounds {
  readonly ttlSec: number;
  readonly maxAffected?: number;
}

/** Keeps the call behind a new token. Errors: `too_many_requests` where long ones have taken all room of the hour. */
export async function issueExecution(
  ctx: StatementsContext,
  { call, effects }: Pick<Previewed, "call" | "effects">,
  { ttlSec, maxAffected }: ExecutionBounds,
): Promise<Execution> {
  const executionToken = newToken("pmut_");
  const expiresAt = ctx.clock.now() + ttlSec * 1000;
  const { namespaceId, databaseId, branchRef } = ctx.target;
  const text = writeHeldCall({ ...call, maxAffected: maxAffected ?? null }, { effects, footprint: null }, []);
  const record = { tokenId: ctx.tokenId, databaseId, branchRef, expiresAt };
  if (!await ctx.held.propose(tokenHash(executionToken), { namespaceId, text }, record)) {
    throw new AppError("too_many_requests", {
      message:
        "Wait an hour, or propose less at a time; the long calls that this namespace has proposed take all their room",
      retryAfterSec: chosenSec.execution.most,
    });
  }
  return { executionToken, expiresAt: isoTime(expiresAt) };
}
