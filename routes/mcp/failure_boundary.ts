// The one place of this door where a failure becomes an answer: of a tool as something to mend, of the rest as an error
// of the protocol. The SDK would tell the message of any error.
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { type Outcome, outcomeOf } from "../../lib/core/outcome_of.ts";
import { unexpectedError } from "../../lib/core/unexpected_error.ts";
import type { McpVisit } from "./tools/visit.ts";

/** The outcome of the work; a failure that nobody expects is logged, and told as `internal`. */
export async function settled<Value>(visit: McpVisit, work: () => Promise<Value>): Promise<Outcome<Value>> {
  try {
    return await outcomeOf(work);
  } catch (error) {
    return { ok: false, error: unexpectedError(visit.deps.log, visit.requestId, error) };
  }
}

/** The value of the work, or the protocol's error. */
export async function orProtocolError<Value>(visit: McpVisit, work: () => Promise<Value>): Promise<Value> {
  const outcome = await settled(visit, work);
  if (outcome.ok) return outcome.value;
  const { status, message } = outcome.error;
  const { InvalidParams, InternalError } = ProtocolErrorCode;
  throw new ProtocolError(status < 500 && status !== 429 ? InvalidParams : InternalError, message);
}

/** For arguments that are none of a tool's. */
export function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
